import { decodeLastSigned, encodeLastSigned, type LastSignedState } from "../../src/ibft/lastSigned.ts";
import { forgottenAt } from "../../src/ibft/lostVotes.ts";
import { quorum, tolerableFaults } from "../../src/ibft/validatorSet.ts";
import { Violation } from "./checkers.ts";
import { createRandom, type Random } from "./random.ts";
import type { SeedViolation } from "./runSeed.ts";
import { drawSetting, type Setting } from "./setting.ts";
import { type SimulatedNode, signedBy } from "./simulatedNode.ts";
import { createNetwork, type NetworkParts, type SimulatedNetwork } from "./simulator.ts";

/**
 * What may happen to the record of a validator while it is down:
 *
 *     lost      no record, chain kept
 *     old       an older record, chain kept; a block above it has a seal of the validator
 *     wiped     no record, and only the first blocks of the chain
 *     cut       the record as it was, and the last blocks of the chain are lost: it waits for them
 *     restored  record and chain of an earlier moment: nothing on its own disk shows it
 *
 * Any number of validators may suffer all but the last: they never contradict themselves, whatever their clocks, save that
 * "wiped" takes clocks that are right to two seconds. No more than f may be restored or Byzantine at a time: the restored
 * are excused for what they cannot know, and there is still no fork.
 */
const MISFORTUNES = ["lost", "old", "wiped", "cut", "restored"] as const;

export type Misfortune = (typeof MISFORTUNES)[number];

export interface MisfortuneFigures {
  readonly suffered: Record<Misfortune, number>;
  /** Starts in doubt, by its reason. */
  readonly silences: number;
  /** Times that the operator had to stop all and have the silent ones forget. */
  forgotten: number;
  heights: number;
}

export interface MisfortuneResult {
  readonly violation: SeedViolation | undefined;
  readonly figures: MisfortuneFigures;
}

/** A setting with a fixed set of validators, whose clocks are right; `kinds` may happen to its validators. */
export function drawMisfortunes(seed: number): Setting {
  const setting = drawSetting(seed);
  return { ...setting, conditions: { ...setting.conditions, vote: 0, pause: 0, skewMs: 400, crash: 0 } };
}

const PHASE_MS = 75_000;
const EVERY_MS = 6_000;
const COPY_EVERY_MS = 2_500;
const CALM_MS = 30 * 60_000;
/** Without a block for this long in the calm, the operator looks. */
const PATIENCE_MS = 5 * 60_000;
const CALM_BLOCKS = 3;

interface Copy {
  readonly record: Uint8Array | undefined;
  readonly blocks: number;
}

export async function runMisfortunes(
  setting: Setting,
  kinds: readonly Misfortune[] = MISFORTUNES,
  parts: NetworkParts = {},
): Promise<MisfortuneResult> {
  const network = createNetwork(setting, parts);
  const fate = createFate(network, setting, kinds);
  try {
    for (let atMs = EVERY_MS; atMs < PHASE_MS; atMs += COPY_EVERY_MS) {
      await network.runUntil(atMs);
      fate.copy();
      if (atMs % (2 * COPY_EVERY_MS) === EVERY_MS % (2 * COPY_EVERY_MS)) fate.strike();
    }
    await network.runUntil(PHASE_MS + 3_000);
    network.calm();
    await awaitBlocks(network, setting, fate);
    return { violation: undefined, figures: fate.figures() };
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    const { checker, message } = error;
    return { violation: { checker, message }, figures: fate.figures() };
  }
}

interface Fate {
  copy(): void;
  strike(): void;
  figures(): MisfortuneFigures;
  noteForgotten(): void;
}

function createFate(network: SimulatedNetwork, setting: Setting, kinds: readonly Misfortune[]): Fate {
  const random = createRandom(setting.seed ^ 0xfa7e);
  const suffered = { lost: 0, old: 0, wiped: 0, cut: 0, restored: 0 };
  const copies = new Map<SimulatedNode, Copy[]>();
  const honest = network.nodes.filter(({ isByzantine }) => !isByzantine);
  const mayBeRestored = drawSome(random, honest, tolerableFaults(setting.validators) - setting.byzantine);
  let silences = 0;
  let forgotten = 0;

  function strikeOne(node: SimulatedNode): void {
    const kind = kinds[random.between(0, kinds.length - 1)] ?? "lost";
    const copy = copies.get(node)?.[random.between(0, (copies.get(node)?.length ?? 1) - 1)];
    node.stop();
    const { chain } = node;
    if (chain.length > 1 && copy !== undefined && apply(node, kind, copy)) suffered[kind] += 1;
    const downMs = 100 + 1_500 * random.next();
    network.agenda.plan(network.agenda.nowMs + downMs, () => {
      node.boot();
      if (recordOf(node.record)?.doubt !== undefined) silences += 1;
    });
  }

  function apply(node: SimulatedNode, kind: Misfortune, copy: Copy): boolean {
    switch (kind) {
      case "lost":
        node.restore(undefined);
        return true;
      case "old":
        if (!showsSeal(node, copy.record)) return false;
        node.restore(copy.record);
        return true;
      case "wiped":
        if (!hasPeerAsFar(node)) return false;
        node.restore(undefined, random.between(2, copy.blocks + 1));
        return true;
      case "cut": {
        const blocks = random.between(1, 3);
        const votedAt = recordOf(node.record)?.height ?? 0n;
        if (!hasPeerAsFar(node) || votedAt <= node.chain.length - 1 - blocks || node.chain.length <= blocks)
          return false;
        node.loseEnd(blocks);
        return true;
      }
      case "restored": {
        if (!mayBeRestored.includes(node) || !hasPeerAsFar(node)) return false;
        // Whatever it may have voted for, in this life or an earlier one.
        network.excuse(node, BigInt(network.height) + 1n);
        node.restore(copy.record, copy.blocks);
        return true;
      }
    }
  }

  /** A block that everybody has lost is decided anew: nobody can know better. */
  function hasPeerAsFar(node: SimulatedNode): boolean {
    return honest.some((other) => other !== node && other.chain.length >= node.chain.length);
  }

  return {
    copy() {
      for (const node of honest) {
        const { record, chain } = node;
        copies.set(node, [...(copies.get(node) ?? []), { record, blocks: chain.length }]);
      }
    },
    strike() {
      const spare = setting.validators - quorum(setting.validators) - setting.byzantine;
      const isLate = network.agenda.nowMs > PHASE_MS / 2;
      const count = isLate && random.chance(0.2) ? random.between(1, honest.length) : Math.min(1, spare);
      for (const node of drawSome(random, honest, count)) strikeOne(node);
    },
    figures: () => ({ suffered, silences, forgotten, heights: network.height }),
    noteForgotten() {
      forgotten += 1;
    },
  };
}

/** Every honest node adds blocks to the highest one; the operator helps where too many are silent. */
async function awaitBlocks(network: SimulatedNetwork, setting: Setting, fate: Fate): Promise<void> {
  const { agenda, nodes, runUntil } = network;
  const honest = nodes.filter(({ isByzantine }) => !isByzantine);
  const goal = network.height + CALM_BLOCKS;
  const beganMs = agenda.nowMs;
  let lookedMs = agenda.nowMs;
  while (!honest.every(({ chain }) => chain.length > goal)) {
    if (agenda.nowMs - beganMs > CALM_MS) throw new Violation("progress", `no block ${goal}`, agenda.nowMs);
    await runUntil(agenda.nowMs + 1_000);
    if (agenda.nowMs - lookedMs < PATIENCE_MS) continue;
    lookedMs = agenda.nowMs;
    if (helpIsDue(honest, setting)) {
      // One that kept old messages could use them against those that forget: nothing is claimed, and the chain stalls.
      if (setting.byzantine > 0) return;
      forgetAll(network, honest);
      fate.noteForgotten();
    }
  }
}

const isSilent = ({ state }: SimulatedNode): boolean => state?.lastSigned?.doubt !== undefined;

/** Fewer than a quorum may speak, and all honest nodes have the same newest block. */
function helpIsDue(honest: readonly SimulatedNode[], { validators }: Setting): boolean {
  const speaking = honest.filter((node) => node.index < validators && !isSilent(node)).length;
  const lengths = new Set(honest.map(({ chain }) => chain.length));
  return lengths.size === 1 && speaking < quorum(validators);
}

/** The safe step: all are stopped, so that no votes remain in memory; the silent ones forget, and all start. */
function forgetAll({ agenda, excuse }: SimulatedNetwork, honest: readonly SimulatedNode[]): void {
  const silent = honest.filter(isSilent);
  for (const node of honest) node.stop();
  for (const node of silent) {
    const height = BigInt(node.chain.length);
    excuse(node, height);
    node.restore(encodeLastSigned(forgottenAt(height)));
  }
  for (const node of honest) agenda.plan(agenda.nowMs + 2_000 + 100 * node.index, node.boot);
}

/** Whether one of the blocks in which a start looks shows that the node has signed it. */
function showsSeal({ chain, rules }: SimulatedNode, bytes: Uint8Array | undefined): boolean {
  const record = recordOf(bytes);
  if (record === undefined) return false;
  const first = Number(record.height) + 1;
  const last = chain.length - 1;
  for (let above = 0; above < 8 && first + above <= last; above++)
    for (const number of [first + above, last - above])
      if (signedBy(rules.self, chain[number], chain[number - 1]) !== undefined) return true;
  return false;
}

function recordOf(bytes: Uint8Array | undefined): LastSignedState | undefined {
  const record = bytes === undefined ? undefined : decodeLastSigned(bytes);
  return record?.ok === true ? record.value : undefined;
}

function drawSome<T>(random: Random, all: readonly T[], count: number): readonly T[] {
  const left = [...all];
  return Array.from({ length: Math.max(0, count) }, () =>
    left.splice(random.between(0, left.length - 1), 1),
  ).flat();
}
