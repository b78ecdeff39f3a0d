/** All supported rule sets, oldest first. */
export const FORK_NAMES = [
  "frontier",
  "homestead",
  "tangerineWhistle",
  "spuriousDragon",
  "byzantium",
  "constantinople",
  "petersburg",
  "istanbul",
  "muirGlacier",
  "berlin",
  "london",
  "arrowGlacier",
  "grayGlacier",
  "shanghai",
  "cancun",
  "prague",
] as const;

export type ForkName = (typeof FORK_NAMES)[number];

/** When a fork begins: at a block number, or at a timestamp in seconds. */
export interface ForkActivation {
  readonly fork: ForkName;
  readonly at: { readonly block: bigint } | { readonly time: bigint };
}

export interface ForkSchedule {
  /** Forks in order of activation; frontier at block 0 always comes first. */
  readonly activations: readonly ForkActivation[];
}

/**
 * The rule set of a block: the newest fork that is active at its number and timestamp. The last result is cached: most calls
 * are on the head.
 */
export function forkAt(schedule: ForkSchedule, number: bigint, timestamp: bigint): ForkName {
  if (last?.schedule === schedule && last.number === number && last.timestamp === timestamp) return last.fork;
  let fork: ForkName = "frontier";
  for (const { fork: begun, at } of schedule.activations) {
    const isActive = "block" in at ? number >= at.block : timestamp >= at.time;
    if (isActive && isAtLeast(begun, fork)) fork = begun;
  }
  last = { schedule, number, timestamp, fork };
  return fork;
}

interface ForkOfBlock {
  readonly schedule: ForkSchedule;
  readonly number: bigint;
  readonly timestamp: bigint;
  readonly fork: ForkName;
}

let last: ForkOfBlock | undefined;

/** The newest fork of a schedule, active or not. */
export function newestFork({ activations }: ForkSchedule): ForkName {
  const forks = activations.map(({ fork }) => fork);
  return FORK_NAMES.findLast((fork) => forks.includes(fork)) ?? "frontier";
}

/** True when `fork` includes the rules of `other`. */
export function isAtLeast(fork: ForkName, other: ForkName): boolean {
  return ORDER[fork] >= ORDER[other];
}

const ORDER = Object.fromEntries(FORK_NAMES.map((fork, index) => [fork, index])) as Record<ForkName, number>;
