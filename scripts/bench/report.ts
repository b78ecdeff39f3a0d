/** The value below which `quantile` of the samples lie. */
export function atQuantile(samples: readonly number[], quantile: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * quantile))] ?? Number.NaN;
}

/** A line of figures: ours, the peer's, and how many times theirs ours is. */
export function printRatio(what: string, unit: string, ours: number, theirs: number): void {
  const [a, b] = [ours, theirs].map((value) => value.toFixed(value < 100 ? 2 : 0).padStart(10));
  console.log(
    `${what.padEnd(34)} ibex ${a}  anvil ${b} ${unit.padEnd(6)} ratio ${(ours / theirs).toFixed(2)}`,
  );
}
