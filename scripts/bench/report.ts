/** The value below which `quantile` of the samples lie. */
export function atQuantile(samples: readonly number[], quantile: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * quantile))] ?? Number.NaN;
}

/** Prints a line of figures: ours, the peer's, and the ratio. */
export function printRatio(what: string, unit: string, ours: number, theirs: number): void {
  printBeside(what, unit, ours, "anvil", theirs);
}

/** As printRatio, beside any peer, or alone without one. */
export function printBeside(
  what: string,
  unit: string,
  ours: number,
  peer: string,
  theirs: number | undefined,
): void {
  const figure = (value: number): string => value.toFixed(value < 100 ? 2 : 0).padStart(10);
  const beside =
    theirs === undefined
      ? ""
      : `  ${peer} ${figure(theirs)} ${unit.padEnd(6)} ratio ${(ours / theirs).toFixed(2)}`;
  console.log(`${what.padEnd(40)} ibex ${figure(ours)} ${theirs === undefined ? unit : ""}${beside}`);
}
