/** A range of blocks, both ends included. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * The ranges of blocks of `wanted` that are in none of `done`, in order, each with its own files. They end before the
 * multiples of `size`, so that exports begun at other times or blocks have the same files.
 */
export function missingRanges(wanted: Range, done: readonly Range[], size: number): readonly Range[] {
  const missing: Range[] = [];
  const before = done.toSorted((a, b) => a.from - b.from);
  let next = wanted.from;
  for (const { from, to } of [...before, { from: wanted.to + 1, to: wanted.to }]) {
    for (const end = Math.min(from - 1, wanted.to); next <= end; ) {
      const boundary = next - (next % size) + size - 1;
      missing.push({ from: next, to: Math.min(boundary, end) });
      next = Math.min(boundary, end) + 1;
    }
    next = Math.max(next, to + 1);
  }
  return missing;
}
