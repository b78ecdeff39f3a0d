import type { BuildOrder } from "../../src/consensus/ports.ts";
import type { Candidate } from "../../src/ibft/candidate.ts";
import type { SignedMessage } from "../../src/ibft/message.ts";
import { step, type Transition } from "../../src/ibft/stateMachine.ts";
import type { Head } from "../../src/ibft/validatorSet.ts";
import { isValidator } from "../../src/ibft/validatorVotes.ts";
import type { Address } from "../../src/primitives/address.ts";
import { equalBytes, toHex } from "../../src/primitives/hex.ts";
import { aCandidate, aGenesisHead, aSchedule, toyAddresses, toyRules } from "../builders/toyChain.ts";
import { type Agenda, createAgenda } from "./agenda.ts";
import { type BlockExchange, createBlockExchange } from "./blockExchange.ts";
import {
  type ByzantineValidator,
  createByzantineValidator,
  createMemory,
  type Letter,
} from "./byzantineValidator.ts";
import { type CheckerName, createCheckers } from "./checkers.ts";
import { createLink, type LinkFigures } from "./link.ts";
import { drawMesh, fullMesh, givenMesh, type Mesh, mend } from "./mesh.ts";
import { createRandom, type Random } from "./random.ts";
import { createRelays, type Relays, type RouterLimits } from "./relays.ts";
import { FAULT_FREE, type Setting } from "./setting.ts";
import { createNode, type Sabotage, type SimulatedNode } from "./simulatedNode.ts";
import { isOnTime, isSound, type SealedBlock, voteAfter } from "./toyLedger.ts";
import { letterOfNode } from "./trace.ts";
import { createTokenCodec, recoverSigners } from "./wire.ts";

/**
 * A whole network in one process and in virtual time, drawn from one seed. In the faulty phase messages are lost, doubled and
 * delayed, clocks are wrong, and nodes crash between any two effects; in the calm phase that follows there are no faults
 * except Byzantine validators, and blocks must be decided again. Safety is checked at every step: a violation throws.
 *
 *   agenda (time) -> relays -> engine: mailbox -> state machine -> effects -> disk, ledger, relays -> link -> agenda
 *                                                    |                                      ^
 *                                                 checkers                                 Byzantine validators
 *
 * Some seeds have relays; in the others all nodes receive each other's messages directly.
 */
export interface SimulatedNetwork {
  readonly agenda: Agenda;
  readonly nodes: readonly SimulatedNode[];
  /** Runs all events due until then. Rejects with the first Violation. */
  runUntil(endMs: number): Promise<void>;
  /** Highest block that any honest node has committed. */
  readonly height: number;
  readonly figures: Readonly<NetworkFigures>;
  /** A node may contradict what it said up to that height. */
  excuse(node: SimulatedNode, upTo: bigint): void;
  /** Ends the faulty phase: links heal, crashed nodes restart, clocks are corrected. */
  calm(): void;
}

export interface NetworkFigures extends LinkFigures {
  steps: number;
  byzantineMessages: number;
  crashes: number;
  powerCuts: number;
  /** Times that a node was paused. */
  pauses: number;
  /** Messages that were buffered for their height. */
  kept: number;
  /** Reports of double votes: one is seen by many. */
  doubleVotes: number;
  /** The highest round that an honest validator was in. */
  highestRound: number;
}

export interface NetworkParts {
  /** Sabotages nodes, to test the checkers. */
  readonly sabotage?: Sabotage;
  /** Replaces it for nodes of another kind. */
  readonly sabotageOf?: (index: number) => Sabotage | undefined;
  /** Disabled checkers, so that another has to find their violations. */
  readonly blindTo?: readonly CheckerName[];
  /** Called with every event, line by line. */
  readonly observe?: (node: SimulatedNode, line: () => string) => void;
  /** Called with events of the whole network. */
  readonly tell?: (line: () => string, nowMs: number) => void;
}

export function createNetwork(
  setting: Setting,
  { sabotage = {}, sabotageOf = () => sabotage, blindTo, observe, tell }: NetworkParts = {},
): SimulatedNetwork {
  const { seed, nodes: count } = setting;
  const random: Random = createRandom(seed);
  const agenda = createAgenda();
  const schedule = { ...aSchedule({ epochLength: 20n }), ...setting.relays?.limits };
  const addresses = toyAddresses(count);
  const { twinOf } = setting;
  if (twinOf !== undefined) addresses.splice(count - 1, 1, ...addresses.slice(twinOf, twinOf + 1));
  const genesis = aGenesisHead(addresses.slice(0, setting.validators));
  const byzantineIndexes = drawByzantine(setting, random);
  const byzantineAddresses = addresses.filter((_, index) => byzantineIndexes.has(index));
  const isHonest = (address: Uint8Array): boolean =>
    !byzantineAddresses.some((other) => equalBytes(other, address));
  const checkers = createCheckers({ nowMs: () => agenda.nowMs, isHonest, blindTo: blindTo ?? [] });
  const own = { ...NO_FIGURES };
  let conditions = setting.conditions;
  let height = 0;
  let isAtWork = false;
  let failure: { readonly error: unknown } | undefined;
  const link = createLink({
    nodes: count,
    agenda,
    random,
    conditions: () => conditions,
    onParted: (side, isOneWay) => tell?.(() => describePartition([...side], isOneWay), agenda.nowMs),
  });
  /** Messages of honest validators. */
  const honestWords = new WeakSet<SignedMessage>();
  const memory = createMemory();
  const byzantine = new Map<SimulatedNode, ByzantineValidator>();

  const tipOf = ({ chain }: SimulatedNode): Head => chain.at(-1)?.head ?? genesis;
  const about = (durationMs: number): number => durationMs * (0.5 + random.next() / 2);

  const nodes = addresses.map((self, index) => {
    const node = createNode(index, toyRules(self, schedule), byzantineIndexes.has(index), {
      agenda,
      random,
      machine: sabotageOf(index)?.machine ?? step,
      sabotage: sabotageOf(index) ?? {},
      hasRemoteSigner: setting.hasRemoteSigners === true && index % 2 === 0 && !byzantineIndexes.has(index),
      conditions: () => conditions,
      head: tipOf,
      afterStep(stepped, before, input, transition) {
        own.steps += 1;
        if (input.kind === "paused") own.pauses += 1;
        if (stepped.isByzantine) return;
        own.highestRound = Math.max(own.highestRound, transition.state.height?.round.number ?? 0);
        checkers.onTransition(stepped.index, before, input, transition);
        judgeRefusals(transition);
      },
      connected: (node) =>
        nodes
          .filter(({ state, index: other }) => state && mesh.areLinked(node.index, other))
          .map(({ rules }) => rules.self),
      multicast,
      sendNotice: (speaker, notice) => relays?.sendNotice(speaker, notice),
      build,
      check,
      commit: (committer, candidate, seals) => exchange.commit(committer, candidate, seals),
      onWork() {
        isAtWork = true;
      },
      onFailure(error) {
        failure ??= { error };
      },
      onBoot(booted) {
        relays?.boot(booted, tipOf(booted));
        exchange.begin(booted);
      },
      onCrash(crashed, isPowerCut) {
        own.crashes += 1;
        if (isPowerCut) own.powerCuts += 1;
        exchange.crashed(crashed);
      },
      ...(observe && { observe }),
    });
    node.chain.push({ head: genesis, candidate: aCandidate(genesis), seals: [] });
    return node;
  });
  for (const node of nodes) {
    if (!node.isByzantine) continue;
    const others = nodes.filter((other) => other !== node).map(({ index }) => index);
    const { rules } = node;
    const { isRuthless } = setting;
    byzantine.set(
      node,
      createByzantineValidator({
        rules,
        isRuthless,
        random,
        others,
        memory,
        height: () => node.state?.height,
      }),
    );
  }

  const mesh = setting.relays === undefined ? fullMesh(count) : drawMeshOf(setting, byzantineIndexes);
  const exchange: BlockExchange = createBlockExchange({
    random,
    link,
    schedule,
    byzantine,
    isSlowToCatchUp: setting.conditions.pause > 0,
    conditions: () => conditions,
    importsUnsealed: ({ index }) => sabotageOf(index)?.importsUnsealed === true,
    about,
    tipOf,
    known: (node) =>
      setting.relays === undefined ? nodes : nodes.filter((other) => mesh.areLinked(node.index, other.index)),
    append,
  });
  const relays = relaysOf(setting);

  /** As the setting has them; and none where it has none. */
  function relaysOf({ relays: wanted }: Setting): Relays | undefined {
    if (wanted === undefined) return undefined;
    const { limits } = wanted;
    const mouths = createRandom(seed ^ 0x3e1a);
    const diligence = nodes.map(() => mouths.next());
    return createRelays({
      nodes,
      mesh,
      codec: createTokenCodec(),
      limits,
      ownLimits: sabotage.hoards === true ? tenfold(limits) : limits,
      requestTimeoutSeconds: schedule.requestTimeoutSeconds,
      checkers,
      carry: (from, to, arrive) => link.carry(from.index, to.index, arrive),
      deliver,
      passesOn({ index, isByzantine }) {
        if (sabotage.passesNothingOn === true) return false;
        return !isByzantine || mouths.chance(diligence[index] ?? 0);
      },
      repeats: ({ index }) => sabotageOf(index)?.repeatsNothing !== true,
      onKept() {
        own.kept += 1;
      },
    });
  }

  /** No message of an honest validator is rejected or reported. */
  function judgeRefusals({ effects }: Transition): void {
    for (const effect of effects) {
      if (effect.kind === "rejectMessage" && honestWords.has(effect.message)) checkers.onRefusal(effect);
      if (effect.kind !== "reportEquivocation") continue;
      own.doubleVotes += 1;
      if (isHonest(effect.first.signed.author)) checkers.onRefusal(effect);
    }
  }

  function multicast(node: SimulatedNode, message: SignedMessage, validators: readonly Address[]): void {
    const validator = byzantine.get(node);
    if (validator !== undefined) {
      post(node, validator.speak(message));
      return;
    }
    checkers.onMulticast(message);
    honestWords.add(message);
    if (relays !== undefined) relays.multicast(node, message, validators);
    else for (const other of nodes) if (other !== node) carry(node, other, message);
  }

  /** The real signers of a Byzantine validator's message, whatever it claims. */
  function post(from: SimulatedNode, letters: readonly Letter[]): void {
    const read = new Map<SignedMessage, SignedMessage>();
    for (const { to, message } of letters) {
      const other = nodes[to];
      if (other === undefined) continue;
      const recovered = read.get(message) ?? (honestWords.has(message) ? message : recoverSigners(message));
      read.set(message, recovered);
      own.byzantineMessages += 1;
      if (relays === undefined) carry(from, other, recovered);
      else relays.tell(from, other, recovered);
    }
  }

  function carry(from: SimulatedNode, to: SimulatedNode, message: SignedMessage): void {
    link.carry(from.index, to.index, () => deliver(to, message));
  }

  function deliver(to: SimulatedNode, message: SignedMessage): void {
    to.hear(message);
    const validator = byzantine.get(to);
    if (validator === undefined) return;
    if (isHonest(message.signed.author)) post(to, validator.hear(message));
    else if (message.kind === "proposal") post(to, validator.support(message));
  }

  /** Undefined when the head has advanced in the meantime. */
  function build(node: SimulatedNode, asked: BuildOrder): Promise<Candidate | undefined> {
    return after(node, conditions.buildMs, () => {
      const parent = tipOf(node);
      if (!equalBytes(parent.hash, asked.parent.hash)) return undefined;
      const vote = random.chance(conditions.vote)
        ? voteAfter(parent, addresses, byzantineAddresses, seed)
        : undefined;
      const { round, timestamp } = asked;
      const order = { round, timestamp, coinbase: node.rules.self, ...(vote && { vote }) };
      const candidate = aCandidate(parent, { ...order, mark: `${toHex(node.rules.self)} ${agenda.nowMs}` });
      if (!node.isByzantine) checkers.onBuilt(candidate.hash);
      return candidate;
    });
  }

  function check(node: SimulatedNode, candidate: Candidate): Promise<boolean> {
    return after(node, conditions.checkMs, () => {
      const sound = isSound(tipOf(node), candidate) && isOnTime(candidate, node.nowMs);
      return sound || node.isByzantine;
    });
  }

  /** Slow work of one run; its result is dropped when the run ends before. */
  function after<T>(node: SimulatedNode, durationMs: number, work: () => T): Promise<T> {
    return new Promise((resolve) => node.plan(about(durationMs), () => resolve(work())));
  }

  function append(node: SimulatedNode, block: SealedBlock): void {
    if (!node.isByzantine) {
      checkers.onBlock(tipOf(node), block);
      height = Math.max(height, Number(block.head.header.number));
    }
    node.chain.push(block);
    node.headAdvanced(block.head);
    relays?.headAdvanced(node, block.head);
  }

  /** Messages of every honest validator reach all honest nodes, whatever Byzantine validators do. */
  function mendMesh(): void {
    const honest = nodes.filter(({ isByzantine }) => !isByzantine);
    const highest = honest.map(tipOf).reduce((a, b) => (b.header.number > a.header.number ? b : a), genesis);
    const relaying = honest.filter(({ rules }) => isValidator(highest.tally, rules.self));
    mend(
      mesh,
      relaying.map(({ index }) => index),
    );
  }

  /** Runs the event loop until all engines are idle, before the next event. */
  async function runUntil(endMs: number): Promise<void> {
    for (let { nextMs } = agenda; nextMs !== undefined && nextMs <= endMs; { nextMs } = agenda) {
      agenda.runUntil(nextMs);
      if (isAtWork) await new Promise((resume) => setImmediate(resume));
      isAtWork = false;
      if (failure !== undefined) throw failure.error;
    }
    agenda.runUntil(endMs);
  }

  for (const node of nodes)
    if (twinOf === undefined || node.index < count - 1) agenda.plan(about(500), node.boot);

  return {
    agenda,
    nodes,
    runUntil,
    get figures() {
      return { ...own, ...link.figures };
    },
    get height() {
      return height;
    },
    excuse: ({ rules }, upTo) => checkers.excuse(rules.self, upTo),
    calm() {
      tell?.(
        () => "THE FAULTY PHASE IS OVER: links are whole, the crashed return, clocks are set",
        agenda.nowMs,
      );
      conditions = FAULT_FREE;
      link.heal();
      mendMesh();
      relays?.reconnect();
      for (const node of nodes) {
        for (const reason of node.holds.reasons) node.holds.resume(reason);
        node.setClock((2 * random.next() - 1) * FAULT_FREE.skewMs);
        node.boot();
      }
    },
  };
}

function describePartition(side: readonly number[], isOneWay: boolean): string {
  if (side.length === 0) return "the network is whole";
  const letters = side.map(letterOfNode).join("");
  return isOneWay ? `messages of ${letters} reach no others` : `${letters} are partitioned from the others`;
}

const NO_FIGURES = {
  steps: 0,
  byzantineMessages: 0,
  crashes: 0,
  powerCuts: 0,
  pauses: 0,
  kept: 0,
  doubleVotes: 0,
  highestRound: 0,
};

/** Byzantine validators have all links. */
function drawMeshOf({ seed, nodes, relays }: Setting, byzantine: ReadonlySet<number>): Mesh {
  if (relays?.areLinked !== undefined) return givenMesh(nodes, relays.areLinked);
  return drawMesh(
    nodes,
    { share: relays?.links ?? 1, wellConnected: byzantine },
    createRandom(seed ^ 0x4e57),
  );
}

function tenfold(limits: RouterLimits): RouterLimits {
  return {
    duplicateMessageLimit: 10 * limits.duplicateMessageLimit,
    gossipedHistoryLimit: 10 * limits.gossipedHistoryLimit,
    futureMessagesLimit: 10 * limits.futureMessagesLimit,
    futureMessagesMaxDistance: limits.futureMessagesMaxDistance,
  };
}

function drawByzantine({ validators, byzantine }: Setting, random: Random): ReadonlySet<number> {
  const drawn = new Set<number>();
  while (drawn.size < byzantine) drawn.add(random.between(0, validators - 1));
  return drawn;
}
