import { describe, expect, it } from "vitest";
import { spacingRows } from "../../src/explorer/page/views/network/spacingRows.ts";

function rows(...seconds: readonly number[]): readonly string[] {
  return spacingRows(seconds.toSorted((a, b) => a - b)).map(({ name, count }) => `${name}: ${count}`);
}

describe("the distribution of times between blocks", () => {
  it("has a row for each second where whole seconds are known", () => {
    expect(rows(1, 1, 1, 2, 4)).toEqual(["1 s: 3", "2 s: 1", "3 s +: 1"]);
  });

  it("has a row for parts of a second where milliseconds are", () => {
    const usual = Array.from({ length: 100 }, (_, index) => 0.98 + index * 0.0004);
    expect(rows(0.2, ...usual, 5.013)).toEqual([
      "under 0.980 s: 1",
      "0.980–0.985 s: 13",
      "0.985–0.990 s: 12",
      "0.990–0.995 s: 13",
      "0.995–1.000 s: 12",
      "1.000–1.005 s: 13",
      "1.005–1.010 s: 12",
      "1.010–1.015 s: 13",
      "1.015–1.020 s: 12",
      "1.020 s +: 1",
    ]);
  });

  it("has few rows, however different they are", () => {
    const spread = Array.from({ length: 1_000 }, (_, index) => index * 0.617);
    expect(spacingRows(spread).length).toBeLessThanOrEqual(10);
    expect(spacingRows(spread).reduce((sum, { count }) => sum + count, 0)).toBe(1_000);
    expect(rows(3_600 * 24 * 365, 1, 2)).toHaveLength(3);
  });
});
