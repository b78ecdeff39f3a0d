import { Engine } from "../../src/consensus/engine.ts";
import { listenFirst } from "../../src/consensus/listening.ts";
import { PauseReasons } from "../../src/consensus/pauseReasons.ts";
import type { BuildOrder, RemoteSigner } from "../../src/consensus/ports.ts";
import type { KeyNotice } from "../../src/consensus/sharedKey/notice.ts";
import type { Candidate } from "../../src/ibft/candidate.ts";
import { decodeLastSigned, encodeLastSigned, type LastSignedState } from "../../src/ibft/lastSigned.ts";
import type { SignedMessage } from "../../src/ibft/message.ts";
import { type Input, type OwnKeyRules, type OwnSeal, type State, UNSTARTED } from "../../src/ibft/state.ts";
import type { Step, Transition } from "../../src/ibft/stateMachine.ts";
import { type Head, proposerOf } from "../../src/ibft/validatorSet.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import type { Address } from "../../src/primitives/address.ts";
import { assert } from "../../src/primitives/assert.ts";
import type { Clock } from "../../src/primitives/clock.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { equalBytes } from "../../src/primitives/hex.ts";
import type { Signature } from "../../src/primitives/secp256k1.ts";
import { isTokenOf } from "../builders/toyChain.ts";
import type { Agenda } from "./agenda.ts";
import { createVoteDisk } from "./disk.ts";
import type { Random } from "./random.ts";
import type { NetworkConditions } from "./setting.ts";
import type { SealedBlock } from "./toyLedger.ts";
import { describeEffect, describeInput } from "./trace.ts";

/** A node in which all but consensus is a toy: engine, effect handler and state machine are the real ones. */
export interface SimulatedNode {
  readonly index: number;
  readonly rules: OwnKeyRules;
  readonly isByzantine: boolean;
  /** Durable: block n at index n. */
  readonly chain: SealedBlock[];
  /** Undefined while it is down. */
  readonly state: State | undefined;
  /** By its own clock. */
  readonly nowMs: number;
  /** How far its clock is ahead. */
  readonly skewMs: number;
  /** Pause reasons; cleared at each start. */
  readonly holds: PauseReasons;
  hear(message: SignedMessage): void;
  /** Hears a notice of a shared key; whether others should. */
  judgeNotice(notice: KeyNotice): boolean;
  headAdvanced(head: Head): void;
  /** The engine of this run only; undefined after a crash. */
  plan(delayMs: number, action: () => void): void;
  boot(): void;
  /** Ends its process without a restart. */
  stop(): void;
  setClock(skewMs: number): void;
  /** Its record as it is now, to be put back later. */
  readonly record: Uint8Array | undefined;
  /** For a node that is down: another record, and a chain of no more than these blocks. */
  restore(record: Uint8Array | undefined, blocks?: number): void;
  /** For a node that is down: has lost its last blocks and knows it, so that it waits for them (src/sync/lostEnd.ts). */
  loseEnd(blocks: number): void;
}

/** What sabotage may change: the state machine, a node's vote log, and when votes are sent. */
export interface Sabotage {
  readonly machine?: Step;
  /** The record that a node finds when it starts. */
  readonly remember?: (record: LastSignedState | undefined) => LastSignedState | undefined;
  readonly speaksBeforeSync?: boolean;
  readonly passesNothingOn?: boolean;
  /** Ten times what the limits allow. */
  readonly hoards?: boolean;
  /** Does not send its last messages to nodes that connect. */
  readonly repeatsNothing?: boolean;
  /** Its timers fire even when cancelled. */
  readonly cancelsNothing?: boolean;
  /** Accepts blocks of others with any seals. */
  readonly importsUnsealed?: boolean;
  /** Votes at once after a start. */
  readonly listensNever?: boolean;
  /** Does not wait for blocks that its database has lost. */
  readonly takesPartWithoutEnd?: boolean;
  /** Looks for its seal in no block. */
  readonly overlooksOwnSeals?: boolean;
}

export interface NodeParts {
  readonly agenda: Agenda;
  readonly random: Random;
  readonly machine: Step;
  readonly sabotage: Sabotage;
  /** The node's key is in another process. */
  readonly hasRemoteSigner: boolean;
  conditions(): NetworkConditions;
  /** The head on disk. */
  head(node: SimulatedNode): Head;
  afterStep(node: SimulatedNode, before: State, input: Input, transition: Transition): void;
  connected(node: SimulatedNode): readonly Address[];
  multicast(node: SimulatedNode, message: SignedMessage, validators: readonly Address[]): void;
  sendNotice(node: SimulatedNode, message: SignedMessage): void;
  build(node: SimulatedNode, order: BuildOrder): Promise<Candidate | undefined>;
  check(node: SimulatedNode, candidate: Candidate): Promise<boolean>;
  commit(node: SimulatedNode, candidate: Candidate, seals: readonly Signature[]): Promise<boolean>;
  onBoot(node: SimulatedNode): void;
  onCrash(node: SimulatedNode, isPowerCut: boolean): void;
  /** The engine has pending work that needs a slice of the event loop. */
  onWork(): void;
  /** The engine has failed. */
  onFailure(error: unknown): void;
  observe?: (node: SimulatedNode, line: () => string) => void;
}

export function createNode(
  index: number,
  rules: OwnKeyRules,
  isByzantine: boolean,
  parts: NodeParts,
): SimulatedNode {
  const { agenda, random, machine, sabotage, conditions, observe, onWork } = parts;
  const engineRules = parts.hasRemoteSigner ? { ...rules, sign: undefined } : rules;
  const disk = createVoteDisk(random);
  let engine: Engine | undefined;
  let state: State | undefined;
  let run = 0;
  let skewMs = 0;
  let holds = new PauseReasons(NOBODY);
  /** The newest block that its database had before it lost its end. */
  let lostNumber = 0;

  const node: SimulatedNode = {
    index,
    rules,
    isByzantine,
    chain: [],
    get state() {
      return state;
    },
    get nowMs() {
      return agenda.nowMs + skewMs;
    },
    get skewMs() {
      return skewMs;
    },
    get holds() {
      return holds;
    },
    hear(message) {
      engine?.receive(message);
      onWork();
    },
    judgeNotice(notice) {
      onWork();
      return sabotage.listensNever !== true && engine?.keyWatch.judge(notice) === true;
    },
    headAdvanced(head) {
      engine?.headAdvanced(head);
      if (head.header.number >= lostNumber) holds.resume("lostEnd");
      onWork();
    },
    plan(delayMs, action) {
      const plannedIn = run;
      agenda.plan(agenda.nowMs + delayMs, () => {
        if (run !== plannedIn) return;
        action();
        onWork();
      });
    },
    boot() {
      if (state !== undefined) return;
      run += 1;
      skewMs = (2 * random.next() - 1) * conditions().skewMs;
      state = UNSTARTED;
      engine = startEngine();
      holds = new PauseReasons(engine);
      engine.start(parts.head(node));
      if (node.chain.length <= lostNumber && sabotage.takesPartWithoutEnd !== true) holds.pause("lostEnd");
      if (sabotage.listensNever !== true)
        listenFirst({ engine, hold: holds, schedule: rules.schedule }, clockOfThisRun());
      onWork();
      parts.onBoot(node);
    },
    stop() {
      if (state !== undefined) end(false);
    },
    setClock(newSkewMs) {
      skewMs = newSkewMs;
    },
    get record() {
      return disk.read();
    },
    restore(record, blocks) {
      disk.replace(record);
      if (blocks === undefined) return;
      node.chain.splice(blocks);
      lostNumber = 0;
    },
    loseEnd(blocks) {
      lostNumber = Math.max(lostNumber, node.chain.length - 1);
      node.chain.splice(-blocks);
    },
  };

  /** One run of its engine. The process may end before any external effect. */
  function startEngine(): Engine {
    const startedAs = run;
    const isAlive = (): boolean => run === startedAs;

    function mayAct(): boolean {
      if (isAlive() && random.chance(conditions().crash)) crash();
      return isAlive();
    }

    const look: Step = (_rules, before, nowMs, input) => {
      if (!isAlive()) return { state: before, effects: [] };
      observe?.(node, () => describeInput(input));
      const transition = machine(engineRules, before, nowMs, input);
      state = transition.state;
      for (const effect of transition.effects) observe?.(node, () => `    ${describeEffect(effect)}`);
      parts.afterStep(node, before, input, transition);
      return transition;
    };

    return new Engine(
      engineRules,
      {
        ...(parts.hasRemoteSigner && {
          signer: { sign: (...request) => (mayAct() ? sign(...request) : NEVER) },
        }),
        builder: { build: (order) => (mayAct() ? parts.build(node, order) : NEVER) },
        checker: { check: (candidate) => (mayAct() ? parts.check(node, candidate) : NEVER) },
        committer: {
          commit: (candidate, seals) => (mayAct() ? parts.commit(node, candidate, seals) : NEVER),
        },
        voteLog: {
          read: () => remembered(disk.read(), sabotage),
          write: (record) => (mayAct() ? write(record) : NEVER),
        },
        outbox: {
          multicast(message, validators) {
            if (mayAct()) parts.multicast(node, message, validators);
          },
          sendNotice(message) {
            if (sabotage.listensNever !== true && isAlive()) parts.sendNotice(node, message);
          },
          connected: () => parts.connected(node),
        },
        ...(sabotage.overlooksOwnSeals !== true && {
          ownSeals: {
            find: (number: bigint) =>
              signedBy(rules.self, node.chain[Number(number)], node.chain[Number(number) - 1]),
          },
        }),
        clock: clockOfThisRun(),
        logger: silentLogger,
        onFailure: (error) => {
          if (isAlive()) parts.onFailure(error);
        },
      },
      look,
    );
  }

  function clockOfThisRun(): Clock {
    return {
      nowMs: () => node.nowMs,
      at(atMs, action) {
        let isCancelled = false;
        node.plan(Math.max(0, atMs - node.nowMs), () => {
          if (!isCancelled) action();
        });
        return {
          cancel() {
            isCancelled = sabotage.cancelsNothing !== true;
          },
        };
      },
    };
  }

  function write(record: Uint8Array): Promise<void> {
    disk.write(record);
    const syncMs = conditions().syncMs * random.next();
    if (sabotage.speaksBeforeSync === true) {
      node.plan(syncMs, disk.sync);
      return Promise.resolve();
    }
    if (random.chance(conditions().crash)) node.plan(syncMs * random.next(), crash);
    return new Promise((resolve) =>
      node.plan(syncMs, () => {
        disk.sync();
        resolve();
      }),
    );
  }

  /** Verified, as the real one is; the signer does not answer in some rounds at all. */
  function sign(
    ...[{ digest, preimage }, signal]: Parameters<RemoteSigner["sign"]>
  ): Promise<Signature | undefined> {
    assert(equalBytes(keccak256(preimage), digest), "what is signed is the hash of what the signer gets");
    const { signMs = 5, signFailure = 0 } = conditions();
    if (random.chance(signFailure)) return NEVER;
    return new Promise((resolve) =>
      node.plan(signMs * random.next(), () => resolve(signal.aborted ? undefined : rules.sign(digest))),
    );
  }

  function crash(): void {
    end(random.chance(conditions().powerCut));
    node.plan(conditions().downMs * (0.5 + random.next() / 2), () => node.boot());
  }

  function end(isPowerCut: boolean): void {
    observe?.(node, () => (isPowerCut ? "POWER CUT" : "CRASH"));
    if (isPowerCut) disk.cutPower();
    else disk.crash();
    run += 1;
    state = undefined;
    engine = undefined;
    holds = new PauseReasons(NOBODY);
    parts.onCrash(node, isPowerCut);
  }

  return node;
}

/** Drops the results of work that was pending when the process ended. */
const NEVER = new Promise<never>(() => undefined);

const NOBODY = { pause: () => undefined, resume: () => undefined };

/** As the real node finds it: sealed by it, or decided in a round of which it is the proposer. */
export function signedBy(
  self: Address,
  block: SealedBlock | undefined,
  parent: SealedBlock | undefined,
): OwnSeal | undefined {
  if (block === undefined || parent === undefined) return undefined;
  const { candidate, seals, head } = block;
  const { validators } = parent.head.tally;
  const { coinbase } = parent.head.header;
  const isProposer = equalBytes(proposerOf(validators, coinbase, candidate.extra.round), self);
  return isProposer || seals.some((seal) => isTokenOf(seal, self, candidate.digest))
    ? head.header
    : undefined;
}

function remembered(bytes: Uint8Array | undefined, { remember }: Sabotage): Uint8Array | undefined {
  if (remember === undefined) return bytes;
  const found = bytes === undefined ? undefined : decodeLastSigned(bytes);
  if (found?.ok === false) throw new Error(found.error.message);
  const record = remember(found?.value);
  return record === undefined ? undefined : encodeLastSigned(record);
}
