import type { Candidate } from "../../src/ibft/candidate.ts";
import type { Effect } from "../../src/ibft/effect.ts";
import type { Head } from "../../src/ibft/input.ts";
import type { Authored } from "../../src/ibft/message.ts";
import { step } from "../../src/ibft/step.ts";
import { equalBytes, toHex } from "../../src/primitives/hex.ts";
import type { Signature } from "../../src/primitives/secp256k1.ts";
import { aCandidate, aGenesisHead, aSchedule, toyAddresses, toyRules } from "../builders/toyChain.ts";
import { type Agenda, createAgenda } from "./agenda.ts";
import { type CheckerName, createCheckers } from "./checkers.ts";
import { createLiar, createMemory, type Letter, type Liar } from "./liar.ts";
import { createLink } from "./link.ts";
import { createRandom, type Random } from "./random.ts";
import { createNode, type Sabotage, type SimulatedNode } from "./simulatedNode.ts";
import { isImportable, isPunctual, isSound, type SealedBlock, sealBlock, voteAfter } from "./toyLedger.ts";
import { FAIR, type Setting } from "./weather.ts";
import { recoverSigners } from "./wire.ts";

/**
 * A whole network in one process and in virtual time, drawn from one seed. In the storm messages get lost, doubled and
 * delayed, clocks are wrong, and nodes stop anywhere, between any two effects; in the calm that follows all is well but
 * for the liars, and blocks must come again. Safety is checked at every step: a violation throws.
 *
 *   agenda (time) -> node: mailbox -> machine -> effects -> disk, ledger, link -> agenda
 *                                        |                        ^
 *                                     checkers              liars' mouths
 */
export interface World {
  readonly agenda: Agenda;
  readonly nodes: readonly SimulatedNode[];
  /** Highest block that any honest node has committed. */
  readonly height: number;
  readonly figures: WorldFigures;
  /** Ends the storm: links heal, the crashed return, clocks are set. */
  calm(): void;
}

export interface WorldFigures {
  steps: number;
  messages: number;
  lies: number;
  crashes: number;
  powerCuts: number;
}

export interface WorldParts {
  /** Spoils the machine or its world, to see whether anyone notices. */
  readonly sabotage?: Sabotage;
  /** Checkers that look away, so that another has to find what they would. */
  readonly blindTo?: readonly CheckerName[];
  /** Told everything that happens, line by line. */
  readonly observe?: (node: SimulatedNode, line: () => string) => void;
}

const SYNC_EVERY_MS = 3_000;

export function createWorld(setting: Setting, { sabotage = {}, blindTo, observe }: WorldParts = {}): World {
  const { seed, nodes: count } = setting;
  const random: Random = createRandom(seed);
  const agenda = createAgenda();
  const schedule = aSchedule({ epochLength: 20n });
  const addresses = toyAddresses(count);
  const genesis = aGenesisHead(addresses.slice(0, setting.validators));
  const liarIndexes = drawLiars(setting, random);
  const liarAddresses = addresses.filter((_, index) => liarIndexes.has(index));
  const isHonest = (address: Uint8Array): boolean => !liarAddresses.some((liar) => equalBytes(liar, address));
  const checkers = createCheckers({ nowMs: () => agenda.nowMs, isHonest, blindTo: blindTo ?? [] });
  const figures: WorldFigures = { steps: 0, messages: 0, lies: 0, crashes: 0, powerCuts: 0 };
  let weather = setting.storm;
  let height = 0;
  const link = createLink(count, agenda, random, () => weather);
  /** What honest validators said, word for word. */
  const honestWords = new WeakSet<Authored>();
  const memory = createMemory();
  const liars = new Map<SimulatedNode, Liar>();
  const committing = new Map<SimulatedNode, SealedBlock>();

  const tipOf = ({ chain }: SimulatedNode): Head => chain.at(-1)?.head ?? genesis;
  const about = (durationMs: number): number => durationMs * (0.5 + random.next() / 2);

  const nodes = addresses.map((self, index) => {
    const node = createNode(index, toyRules(self, schedule), liarIndexes.has(index), {
      agenda,
      random,
      machine: sabotage.machine ?? step,
      sabotage,
      weather: () => weather,
      head: tipOf,
      afterStep(stepped, before, after, effects) {
        figures.steps += 1;
        if (!stepped.isLiar) checkers.onTransition(before, after, effects);
      },
      perform,
      onBoot: syncNowAndThen,
      onCrash,
      ...(observe && { observe }),
    });
    node.chain.push({ head: genesis, candidate: aCandidate(genesis), seals: [] });
    return node;
  });
  for (const node of nodes) {
    if (!node.isLiar) continue;
    const others = nodes.filter((other) => other !== node).map(({ index }) => index);
    const { rules } = node;
    const { isRuthless } = setting;
    liars.set(
      node,
      createLiar({ rules, isRuthless, random, others, memory, height: () => node.state?.height }),
    );
  }

  function perform(node: SimulatedNode, effect: Exclude<Effect, { kind: "recordVote" }>): void {
    switch (effect.kind) {
      case "multicast":
        multicast(node, effect.message);
        return;
      case "setBlockTimer":
      case "setRoundTimer": {
        const kind = effect.kind === "setBlockTimer" ? "blockTimer" : "roundTimer";
        node.plan(Math.max(0, effect.atMs - node.nowMs), () => node.post({ kind, id: effect.id }));
        return;
      }
      case "buildCandidate":
        node.plan(about(weather.buildMs), () => build(node, effect));
        return;
      case "checkCandidate":
        node.plan(about(weather.checkMs), () => {
          const { id, candidate } = effect;
          const sound = isSound(tipOf(node), candidate) && isPunctual(candidate, node.nowMs);
          node.post({ kind: "candidateChecked", id, digest: candidate.digest, sound: sound || node.isLiar });
        });
        return;
      case "commitBlock":
        commit(node, effect.candidate, effect.seals);
        return;
      case "rejectMessage":
        if (honestWords.has(effect.message)) checkers.onRefusal(effect);
        return;
      case "reportDoubleVote":
        if (isHonest(effect.first.signed.author)) checkers.onRefusal(effect);
    }
  }

  function multicast(node: SimulatedNode, message: Authored): void {
    const liar = liars.get(node);
    if (liar !== undefined) {
      post(node, liar.speak(message));
      return;
    }
    checkers.onMulticast(message);
    honestWords.add(message);
    for (const other of nodes) if (other !== node) carry(node, other, message);
  }

  /** Whatever a liar writes, the wire tells who really signed it. */
  function post(from: SimulatedNode, letters: readonly Letter[]): void {
    const read = new Map<Authored, Authored>();
    for (const { to, message } of letters) {
      const other = nodes[to];
      if (other === undefined) continue;
      const recovered = read.get(message) ?? (honestWords.has(message) ? message : recoverSigners(message));
      read.set(message, recovered);
      figures.lies += 1;
      carry(from, other, recovered);
    }
  }

  function carry(from: SimulatedNode, to: SimulatedNode, message: Authored): void {
    figures.messages += 1;
    link.carry(from.index, to.index, () => {
      to.post({ kind: "message", message });
      const liar = liars.get(to);
      if (liar === undefined) return;
      if (isHonest(message.signed.author)) post(to, liar.hear(message));
      else if (message.kind === "proposal") post(to, liar.support(message));
    });
  }

  function build(node: SimulatedNode, { id, timestamp }: Extract<Effect, { kind: "buildCandidate" }>): void {
    const parent = tipOf(node);
    if (parent.header.number + 1n !== id.height) return;
    const vote = random.chance(weather.vote) ? voteAfter(parent, addresses, liarAddresses, seed) : undefined;
    const order = { round: id.round, timestamp, coinbase: node.rules.self, ...(vote && { vote }) };
    const candidate = aCandidate(parent, { ...order, mark: `${toHex(node.rules.self)} ${agenda.nowMs}` });
    node.post({ kind: "candidateBuilt", id, candidate });
  }

  /** Durable before anyone hears of it. */
  function commit(node: SimulatedNode, candidate: Candidate, seals: readonly Signature[]): void {
    const tip = tipOf(node);
    if (!equalBytes(candidate.header.parentHash, tip.hash)) return;
    committing.set(node, sealBlock(tip, candidate, seals, schedule));
    node.plan(about(weather.commitMs), () => {
      if (!finishCommit(node)) return;
      for (const other of nodes) if (other !== node) offerBlocks(node, other);
    });
  }

  function finishCommit(node: SimulatedNode): boolean {
    const block = committing.get(node);
    committing.delete(node);
    if (block === undefined || !equalBytes(block.candidate.header.parentHash, tipOf(node).hash)) return false;
    append(node, block);
    return true;
  }

  /** A block that was being written may be on disk all the same. */
  function onCrash(node: SimulatedNode, isPowerCut: boolean): void {
    figures.crashes += 1;
    if (isPowerCut) figures.powerCuts += 1;
    if (random.chance(0.5)) finishCommit(node);
    committing.delete(node);
  }

  function syncNowAndThen(node: SimulatedNode): void {
    node.plan(about(SYNC_EVERY_MS), () => {
      const other = nodes[random.between(0, count - 1)];
      if (other !== undefined) offerBlocks(node, other);
      syncNowAndThen(node);
    });
  }

  /** Whoever gets a block gets all that it lacks before it, and looks at each. */
  function offerBlocks(node: SimulatedNode, to: SimulatedNode): void {
    if (to === node) return;
    const { length } = node.chain;
    const forged = liars.get(node)?.forgeBlock(tipOf(to));
    if (forged === undefined && (to.chain.length >= length || random.chance(weather.blockLoss))) return;
    link.carry(node.index, to.index, () => {
      if (to.state === undefined) return;
      const offered = forged === undefined ? node.chain.slice(to.chain.length, length) : [forged];
      for (const block of offered) {
        if (!isImportable(tipOf(to), block)) return;
        append(to, block);
      }
    });
  }

  function append(node: SimulatedNode, block: SealedBlock): void {
    if (!node.isLiar) {
      checkers.onBlock(tipOf(node), block);
      height = Math.max(height, Number(block.head.header.number));
    }
    node.chain.push(block);
    node.post({ kind: "headAdvanced", head: block.head });
  }

  for (const node of nodes) agenda.plan(about(500), node.boot);

  return {
    agenda,
    nodes,
    figures,
    get height() {
      return height;
    },
    calm() {
      weather = FAIR;
      link.heal();
      for (const node of nodes) {
        node.setClock((2 * random.next() - 1) * FAIR.skewMs);
        node.boot();
      }
    },
  };
}

function drawLiars({ validators, liars }: Setting, random: Random): ReadonlySet<number> {
  const drawn = new Set<number>();
  while (drawn.size < liars) drawn.add(random.between(0, validators - 1));
  return drawn;
}
