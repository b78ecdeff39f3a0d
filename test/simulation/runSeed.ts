import { type CheckerName, Violation } from "./checkers.ts";
import type { Setting } from "./setting.ts";
import { createNetwork, type NetworkFigures, type NetworkParts, type SimulatedNetwork } from "./simulator.ts";

const FAULTY_PHASE_MS = 40_000;
/**
 * Longest wait for blocks after the faulty phase: long timeouts must run out, and Byzantine validators may be consecutive
 * proposers.
 */
const CALM_MS = 60 * 60_000;
/** Wait when progress is not checked. */
const BLIND_CALM_MS = 60_000;
/** Blocks that every honest node must add to the highest one at the end of the faulty phase. */
const CALM_BLOCKS = 5;
/** Until then every node that came back for the calm phase has ended to listen for its own key (listening.ts). */
const ALL_HEARD_MS = FAULTY_PHASE_MS + 12_000;
/** Duration of the fault-free check, and the fewest blocks that it must bring after the one in progress. */
const HEALTHY_MS = 8_000;
const HEALTHY_BLOCKS = 5;

export interface SeedResult {
  readonly violation: SeedViolation | undefined;
  readonly figures: SeedFigures;
}

export interface SeedViolation {
  readonly checker: CheckerName;
  readonly message: string;
}

export interface SeedFigures extends Readonly<NetworkFigures> {
  readonly heights: number;
  /** Blocks decided in a round above 0. */
  readonly laterRounds: number;
  /** Changes of the validator set. */
  readonly setChanges: number;
  readonly virtualMs: number;
  /** Virtual time from the end of the faulty phase until all honest nodes had their blocks. */
  readonly calmMs: number;
}

/** Runs one seed through its faulty and its calm phase, or until a violation. */
export async function runSetting(setting: Setting, parts: NetworkParts = {}): Promise<SeedResult> {
  const network = createNetwork(setting, parts);
  let calmMs = 0;
  try {
    await network.runUntil(FAULTY_PHASE_MS);
    network.calm();
    calmMs = await awaitBlocks(network, parts.blindTo ?? []);
    if (setting.byzantine === 0 && !parts.blindTo?.includes("progress")) await checkHealth(network);
    return { violation: undefined, figures: figuresOf(network, calmMs) };
  } catch (error) {
    return { violation: violationOf(error), figures: figuresOf(network, calmMs) };
  }
}

async function awaitBlocks(
  { agenda, nodes, height, runUntil }: SimulatedNetwork,
  blindTo: readonly CheckerName[],
): Promise<number> {
  const goal = height + CALM_BLOCKS;
  const isThere = (): boolean => nodes.every(({ chain, isByzantine }) => isByzantine || chain.length > goal);
  while (!isThere()) {
    const calmMs = agenda.nowMs - FAULTY_PHASE_MS;
    if (calmMs >= BLIND_CALM_MS && blindTo.includes("progress")) return calmMs;
    if (calmMs >= CALM_MS) {
      throw new Violation("progress", `no block ${goal} everywhere`, agenda.nowMs);
    }
    await runUntil(agenda.nowMs + 1_000);
  }
  return agenda.nowMs - FAULTY_PHASE_MS;
}

/** Without Byzantine validators and faults every block is decided in round 0, one a second. */
async function checkHealth({ agenda, nodes, runUntil }: SimulatedNetwork): Promise<void> {
  if (agenda.nowMs < ALL_HEARD_MS) await runUntil(ALL_HEARD_MS);
  const tips = nodes.map(({ chain }) => chain.length);
  // The height in progress may have begun in the faulty phase.
  const first = Math.max(...tips) + 1;
  await runUntil(agenda.nowMs + HEALTHY_MS);
  for (const { chain } of nodes) {
    const news = chain.slice(first);
    const isHealthy = news.every(({ candidate }) => candidate.extra.round === 0);
    if (isHealthy && news.length >= HEALTHY_BLOCKS) continue;
    throw new Violation("progress", `${news.length} blocks in good health, or later rounds`, agenda.nowMs);
  }
}

function violationOf(error: unknown): SeedViolation {
  if (error instanceof Violation) return { checker: error.checker, message: error.message };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { checker: "machine", message: `machine: ${message}` };
}

function figuresOf({ agenda, nodes, figures }: SimulatedNetwork, calmMs: number): SeedFigures {
  const honest = nodes.filter(({ isByzantine }) => !isByzantine);
  const [longest = []] = honest.map(({ chain }) => chain).sort((a, b) => b.length - a.length);
  let setChanges = 0;
  for (let at = 1; at < longest.length; at++) {
    if (longest[at]?.head.tally.validators.length !== longest[at - 1]?.head.tally.validators.length) {
      setChanges += 1;
    }
  }
  return {
    ...figures,
    heights: longest.length - 1,
    laterRounds: longest.filter(({ candidate }) => candidate.extra.round > 0).length,
    setChanges,
    virtualMs: agenda.nowMs,
    calmMs,
  };
}
