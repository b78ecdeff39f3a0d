import type { Candidate } from "../../src/ibft/candidate.ts";
import type { Effect } from "../../src/ibft/effect.ts";
import type { Head, Input } from "../../src/ibft/input.ts";
import type { Authored } from "../../src/ibft/message.ts";
import { quorum } from "../../src/ibft/quorum.ts";
import { type Rules, type State, UNSTARTED } from "../../src/ibft/state.ts";
import { step, type Transition } from "../../src/ibft/step.ts";
import { earliestTimestamp } from "../../src/ibft/timeouts.ts";
import { isValidator } from "../../src/ibft/validatorVotes.ts";
import type { VoteRecord } from "../../src/ibft/voteRecord.ts";
import type { Address } from "../../src/primitives/address.ts";
import { equalBytes, toHex } from "../../src/primitives/hex.ts";
import type { Signature } from "../../src/primitives/secp256k1.ts";
import type { ValidatorVote } from "../../src/types/extraData.ts";
import {
  aCandidate,
  aGenesisHead,
  aSchedule,
  headOf,
  isTokenOf,
  toyAddresses,
  toyRules,
} from "../builders/toyChain.ts";
import { type Agenda, createAgenda } from "./agenda.ts";
import { createRandom, type Random } from "./random.ts";

/**
 * A whole network of honest validators in one process and in virtual time, drawn from one seed. In the storm messages
 * get lost, doubled and delayed, and nodes crash anywhere, between any two effects; in the calm that follows all is
 * well and blocks must come again. Safety is checked at every step: a violation throws, naming seed and time.
 */
export interface World {
  readonly agenda: Agenda;
  readonly nodes: readonly SimulatedNode[];
  /** Highest block that any node has committed. */
  readonly height: number;
  /** Ends the storm: links heal, the crashed return. */
  calm(): void;
}

export interface WorldSettings {
  readonly seed: number;
  readonly nodes: number;
  /** Of the nodes, those that are validators at genesis; votes may change that. */
  readonly validators: number;
  readonly weather: Weather;
  /** Spoils the machine, to see whether anyone notices. */
  readonly sabotage?: Sabotage;
}

/** Probabilities, and durations in ms of which half to all is taken. */
export interface Weather {
  readonly loss: number;
  readonly duplication: number;
  readonly delayMs: number;
  /** That a node crashes at any one effect. */
  readonly crash: number;
  readonly downMs: number;
  readonly buildMs: number;
  readonly checkMs: number;
  readonly commitMs: number;
  /** That the network is parted in two for some seconds. */
  readonly partition: number;
  /** That a block carries a vote on a validator. */
  readonly vote: number;
}

export const FAIR: Weather = {
  loss: 0,
  duplication: 0,
  delayMs: 20,
  crash: 0,
  downMs: 0,
  buildMs: 20,
  checkMs: 20,
  commitMs: 20,
  partition: 0,
  vote: 0,
};

/** A weather of its own for each seed, so that each kind of fault also comes alone and in excess. */
export function drawStorm(seed: number): Weather {
  const random = createRandom(seed ^ 0x5eed);
  const upTo = (limit: number): number => (random.chance(0.3) ? 0 : random.next() ** 2 * limit);
  const often = (usual: number, rare: number): number => (random.chance(0.7) ? usual : rare);
  return {
    loss: upTo(0.4),
    duplication: upTo(0.3),
    delayMs: often(50, 1_000),
    crash: upTo(0.03),
    downMs: random.between(10, 8_000),
    buildMs: often(50, 2_500),
    checkMs: often(50, 1_500),
    commitMs: often(50, random.between(500, 8_000)),
    partition: upTo(0.6),
    vote: upTo(0.8),
  };
}

export interface Sabotage {
  /** The record that survives a crash. */
  readonly remember?: (record: VoteRecord | undefined) => VoteRecord | undefined;
  /** What a node makes of a transition. */
  readonly spoil?: (transition: Transition) => Transition;
}

interface SealedBlock {
  readonly head: Head;
  readonly candidate: Candidate;
  readonly seals: readonly Signature[];
}

export interface SimulatedNode {
  readonly self: Address;
  readonly rules: Rules;
  /** Durable: block n at index n. */
  readonly chain: SealedBlock[];
  /** Durable. */
  record: VoteRecord | undefined;
  /** Counts the lives; an event planned in an earlier one finds nobody at home. */
  life: number;
  state: State | undefined;
}

/** More than this and one step would drown its node. */
const EFFECTS_LIMIT = 10;
const SYNC_EVERY_MS = 3_000;
const PARTING_MS = 4_000;
const FEWEST_VALIDATORS = 3;

export function createWorld({
  seed,
  nodes: count,
  validators,
  weather: storm,
  sabotage,
}: WorldSettings): World {
  const random: Random = createRandom(seed);
  const agenda = createAgenda();
  const schedule = aSchedule({ epochLength: 20n });
  const addresses = toyAddresses(count);
  const genesis = aGenesisHead(addresses.slice(0, validators));
  const agreed = new Map<bigint, string>();
  const promised = new Map<string, string>();
  const parted = new Set<SimulatedNode>();
  let isOneWay = false;
  let weather = storm;
  let height = 0;

  const nodes = addresses.map(
    (self): SimulatedNode => ({
      self,
      rules: toyRules(self, schedule),
      chain: [{ head: genesis, candidate: aCandidate(genesis), seals: [] }],
      record: undefined,
      life: 0,
      state: undefined,
    }),
  );

  function check(condition: boolean, violation: string): asserts condition {
    if (!condition) throw new Error(`${violation} (seed ${seed}, ${(agenda.nowMs / 1000).toFixed(1)} s)`);
  }

  const tipOf = ({ chain }: SimulatedNode): Head => chain.at(-1)?.head ?? genesis;
  const about = (durationMs: number): number => durationMs * (0.5 + random.next() / 2);

  /** In this life of the node only. */
  function plan(node: SimulatedNode, delayMs: number, action: () => void): void {
    const { life } = node;
    agenda.plan(agenda.nowMs + delayMs, () => {
      if (node.life === life) action();
    });
  }

  function boot(node: SimulatedNode): void {
    node.state = UNSTARTED;
    const record = sabotage?.remember === undefined ? node.record : sabotage.remember(node.record);
    take(node, { kind: "started", head: tipOf(node), ...(record !== undefined && { record }) });
    const sync = (): void => {
      offerBlocks(node, nodes[random.between(0, count - 1)]);
      plan(node, SYNC_EVERY_MS, sync);
    };
    plan(node, about(SYNC_EVERY_MS), sync);
  }

  function crash(node: SimulatedNode): void {
    node.life += 1;
    node.state = undefined;
    const { life } = node;
    agenda.plan(agenda.nowMs + about(weather.downMs), () => {
      if (node.life === life && node.state === undefined) boot(node);
    });
  }

  function take(node: SimulatedNode, input: Input): void {
    const before = node.state;
    if (before === undefined) return;
    const honest = step(node.rules, before, agenda.nowMs, input);
    const { state, effects } = sabotage?.spoil?.(honest) ?? honest;
    checkOrder(before, state, effects);
    node.state = state;
    const { life } = node;
    for (const effect of effects) {
      if (random.chance(weather.crash)) crash(node);
      if (node.life !== life) return;
      perform(node, effect);
    }
  }

  function checkOrder({ height: before }: State, { height: after }: State, effects: readonly Effect[]): void {
    check(effects.length <= EFFECTS_LIMIT, `bounds: ${effects.length} effects in one step`);
    check((after?.inbox.length ?? 0) <= 3 * 8 * count, "bounds: the inbox is too large");
    const recordAt = effects.findIndex(({ kind }) => kind === "recordVote");
    check(recordAt <= 0, "order: a promise comes first");
    if (before === undefined || after === undefined) return;
    check(after.committee.height >= before.committee.height, "order: a height went back");
    const isSame = after.committee.height === before.committee.height;
    check(!isSame || after.round.number >= before.round.number, "order: a round went back");
  }

  function perform(node: SimulatedNode, effect: Effect): void {
    switch (effect.kind) {
      case "recordVote":
        node.record = effect.record;
        return;
      case "multicast":
        checkPromise(node, effect.message);
        for (const other of nodes) if (other !== node) carry(node, other, effect.message);
        return;
      case "setBlockTimer":
        plan(node, effect.atMs - agenda.nowMs, () => take(node, { kind: "blockTimer", id: effect.id }));
        return;
      case "setRoundTimer":
        plan(node, effect.atMs - agenda.nowMs, () => take(node, { kind: "roundTimer", id: effect.id }));
        return;
      case "buildCandidate":
        plan(node, about(weather.buildMs), () => build(node, effect));
        return;
      case "checkCandidate":
        plan(node, about(weather.checkMs), () => {
          const { id, candidate } = effect;
          const sound = isSound(node, candidate);
          take(node, { kind: "candidateChecked", id, digest: candidate.digest, sound });
        });
        return;
      case "commitBlock":
        plan(node, about(weather.commitMs), () => commit(node, effect.candidate, effect.seals));
        return;
      case "rejectMessage":
        check(false, `an honest message is rejected: ${effect.flaw}`);
        return;
      case "reportDoubleVote":
        check(false, "promise: an honest validator is reported");
    }
  }

  function build(node: SimulatedNode, { id, timestamp }: Extract<Effect, { kind: "buildCandidate" }>): void {
    const parent = tipOf(node);
    if (parent.header.number + 1n !== id.height) return;
    const vote = random.chance(weather.vote) ? voteAfter(parent) : undefined;
    const mark = `${toHex(node.self)} ${agenda.nowMs}`;
    const candidate = aCandidate(parent, {
      round: id.round,
      timestamp,
      coinbase: node.self,
      mark,
      ...(vote && { vote }),
    });
    take(node, { kind: "candidateBuilt", id, candidate });
  }

  /** All want the same for a while, or no vote would ever get a majority. */
  function voteAfter({ header, tally }: Head): ValidatorVote | undefined {
    const recipient = addresses[(seed + Number(header.number / 10n)) % count];
    if (recipient === undefined) return undefined;
    if (!isValidator(tally, recipient)) return { recipient, kind: "add" };
    return tally.validators.length > FEWEST_VALIDATORS ? { recipient, kind: "drop" } : undefined;
  }

  /** Nodes are parted in two groups anew every now and then; what goes from one to the other, or one way only, is lost. */
  function part(): void {
    const isParted = random.chance(weather.partition);
    isOneWay = random.chance(0.5);
    parted.clear();
    for (const node of nodes) if (isParted && random.chance(0.4)) parted.add(node);
    agenda.plan(agenda.nowMs + about(PARTING_MS), part);
  }

  function isLost(from: SimulatedNode, to: SimulatedNode): boolean {
    const isCut = isOneWay ? parted.has(from) && !parted.has(to) : parted.has(from) !== parted.has(to);
    return isCut || random.chance(weather.loss);
  }

  function carry(from: SimulatedNode, to: SimulatedNode, message: Authored): void {
    const copies = isLost(from, to) ? 0 : random.chance(weather.duplication) ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      agenda.plan(agenda.nowMs + about(weather.delayMs), () => take(to, { kind: "message", message }));
    }
  }

  function isSound(node: SimulatedNode, { header }: Candidate): boolean {
    const tip = tipOf(node);
    return (
      equalBytes(header.parentHash, tip.hash) && header.timestamp >= earliestTimestamp(schedule, tip.header)
    );
  }

  function commit(node: SimulatedNode, candidate: Candidate, seals: readonly Signature[]): void {
    const tip = tipOf(node);
    if (!equalBytes(candidate.header.parentHash, tip.hash)) return;
    checkSeal(node, candidate, seals);
    append(node, { head: headOf(tip, candidate, schedule), candidate, seals });
    for (const other of nodes) if (other !== node) offerBlocks(node, other);
  }

  /** Whoever gets a block gets all that it lacks before it. */
  function offerBlocks(node: SimulatedNode, to: SimulatedNode | undefined): void {
    if (to === undefined || to === node || isLost(node, to)) return;
    const blocks = [...node.chain];
    agenda.plan(agenda.nowMs + about(weather.delayMs), () => {
      if (to.state === undefined) return;
      for (const block of blocks.slice(to.chain.length)) append(to, block);
    });
  }

  function append(node: SimulatedNode, block: SealedBlock): void {
    const { candidate, head } = block;
    const { number } = head.header;
    const hash = toHex(candidate.hash);
    check((agreed.get(number) ?? hash) === hash, `agreement: two blocks at height ${number}`);
    agreed.set(number, hash);
    const tip = tipOf(node);
    check(number === tip.header.number + 1n, "order: heads rise by one");
    checkEvidence(tip, block);
    node.chain.push(block);
    height = Math.max(height, Number(number));
    take(node, { kind: "headAdvanced", head });
  }

  function checkEvidence(parent: Head, { candidate, seals }: SealedBlock): void {
    const { validators } = parent.tally;
    const sealers = validators.filter((validator) =>
      seals.some((seal) => isTokenOf(seal, validator, candidate.digest)),
    );
    check(sealers.length >= quorum(validators.length), "evidence: too few seals");
    check(sealers.length === seals.length, "evidence: a seal of no validator, or two of one");
  }

  function checkPromise(node: SimulatedNode, { kind, signed }: Authored): void {
    const { payload } = signed;
    if (payload.kind === "roundChange") return;
    checkKept(`${toHex(node.self)} ${kind} ${payload.height}/${payload.round}`, payload.digest);
  }

  /** A seal is a Commit, whether or not the message went out. */
  function checkSeal(
    node: SimulatedNode,
    { digest, header, extra }: Candidate,
    seals: readonly Signature[],
  ): void {
    if (!seals.some((seal) => isTokenOf(seal, node.self, digest))) return;
    checkKept(`${toHex(node.self)} commit ${header.number}/${extra.round}`, digest);
  }

  function checkKept(place: string, digest: Uint8Array): void {
    const text = toHex(digest);
    check((promised.get(place) ?? text) === text, `promise: ${place} for two blocks`);
    promised.set(place, text);
  }

  for (const node of nodes) agenda.plan(about(500), () => boot(node));
  part();

  return {
    agenda,
    nodes,
    get height() {
      return height;
    },
    calm() {
      weather = FAIR;
      parted.clear();
      for (const node of nodes) {
        if (node.state !== undefined) continue;
        node.life += 1;
        boot(node);
      }
    },
  };
}
