import { showSeconds } from "../../format.ts";

/** A row of the distribution of times between blocks. */
interface SpacingRow {
  readonly name: string;
  readonly count: number;
}

/** Most rows between the row of all shorter and the row of all longer times. */
const MOST_ROWS = 8;
/** Possible widths of a row, seconds. */
const WIDTHS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

/** The distribution of times between blocks: a row for each second, or for fractions if milliseconds are known. */
export function spacingRows(sorted: readonly number[]): readonly SpacingRow[] {
  const low = quantile(sorted, 0.05);
  const high = quantile(sorted, 0.95);
  const isWhole = sorted.every(Number.isInteger);
  const width = WIDTHS.find(
    (one) => rowOf(high, one) - rowOf(low, one) < MOST_ROWS && (!isWhole || one >= 1),
  );
  return width === undefined ? [] : inRows(sorted, width, isWhole);
}

function inRows(sorted: readonly number[], width: number, isWhole: boolean): readonly SpacingRow[] {
  const first = rowOf(quantile(sorted, 0.05), width);
  const last = rowOf(quantile(sorted, 0.95), width);
  const counts = new Map<number, number>();
  for (const seconds of sorted) {
    const row = Math.min(last + 1, Math.max(first - 1, rowOf(seconds, width)));
    counts.set(row, (counts.get(row) ?? 0) + 1);
  }
  const nameOf = (row: number): string => {
    if (row < first) return `under ${showEdge(first * width, width)} s`;
    if (row > last) return `${showEdge(row * width, width)} s +`;
    if (isWhole && width === 1) return showSeconds(row);
    return `${showEdge(row * width, width)}–${showEdge((row + 1) * width, width)} s`;
  };
  return [...counts].toSorted(([a], [b]) => a - b).map(([row, count]) => ({ name: nameOf(row), count }));
}

/** The row of a time. Equal times share a row, although 1.1 / 0.1 is less than 11. */
function rowOf(seconds: number, width: number): number {
  return Math.floor(seconds / width + 1e-9);
}

function showEdge(seconds: number, width: number): string {
  return seconds.toFixed(width < 0.01 ? 3 : width < 0.1 ? 2 : width < 1 ? 1 : 0);
}

export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
}
