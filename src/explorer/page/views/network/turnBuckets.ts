import type { DecidedBlock } from "../../chain/decidedBlocks.ts";

/** Adjacent blocks as one column of the heat map. */
export interface Bucket {
  readonly first: number;
  readonly last: number;
  /** Seconds since 1970, of the newest block in it. */
  readonly timestamp: number;
  readonly highestRound: number;
  readonly proposed: ReadonlyMap<string, number>;
  readonly lost: ReadonlyMap<string, number>;
}

const SIZES = [1, 2, 5, 10, 20, 25, 50, 100, 250, 500, 1_000];

/**
 * Divides the blocks into about `columns` columns, one more at most, the oldest first. Columns begin at multiples of their
 * size, so that a new block changes only the last one.
 */
export function bucketsOf(blocks: readonly DecidedBlock[], columns: number): readonly Bucket[] {
  const size = SIZES.find((each) => each * columns >= blocks.length) ?? blocks.length;
  const groups = new Map<number, DecidedBlock[]>();
  for (const block of blocks.toReversed()) {
    const group = Math.floor(block.number / size);
    groups.set(group, [...(groups.get(group) ?? []), block]);
  }
  return [...groups.values()].map(bucketOf);
}

function bucketOf(blocks: readonly DecidedBlock[]): Bucket {
  return {
    first: blocks[0]?.number ?? 0,
    last: blocks.at(-1)?.number ?? 0,
    timestamp: blocks.at(-1)?.timestamp ?? 0,
    highestRound: Math.max(...blocks.map(({ round }) => round)),
    proposed: countOf(blocks.map(({ proposer }) => proposer)),
    lost: countOf(blocks.flatMap(({ lostTurns }) => lostTurns)),
  };
}

/** How often each name occurs. */
export function countOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** The current validators by address, then former ones of these blocks. */
export function validatorsOf(blocks: readonly DecidedBlock[]): readonly string[] {
  const now = blocks[0]?.validators ?? [];
  const sets = new Set(blocks.map(({ validators }) => validators));
  const former = new Set([...sets].flat());
  for (const address of now) former.delete(address);
  return [...now, ...[...former].toSorted()];
}
