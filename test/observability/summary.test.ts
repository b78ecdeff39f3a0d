import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { QUANTILES, WindowedSummary } from "../../src/observability/summary.ts";

const MINUTE = 60;

describe("a windowed summary", () => {
  it("gives each quantile within 1.2 % of the exact one, and the maximum exactly", () => {
    const durations = fc.array(fc.double({ min: 1e-7, max: 7000, noNaN: true }), {
      minLength: 1,
      maxLength: 500,
    });
    fc.assert(
      fc.property(durations, (values) => {
        const summary = new WindowedSummary(0);
        for (const value of values) summary.observe(value);
        const sorted = [...values].sort((a, b) => a - b);
        const { quantiles, count, sum } = summary.read(0);
        expect(count).toBe(values.length);
        expect(sum).toBeCloseTo(
          values.reduce((total, value) => total + value, 0),
          3,
        );
        for (const [index, quantile] of QUANTILES.entries()) {
          const exact = sorted[Math.ceil(quantile * sorted.length) - 1] ?? Number.NaN;
          const given = quantiles[index] ?? Number.NaN;
          expect(Math.abs(given / exact - 1)).toBeLessThan(quantile === 1 ? 1e-12 : 0.012);
        }
      }),
    );
  });

  it("counts values outside its range in the nearest bucket", () => {
    const summary = new WindowedSummary(0);
    for (const odd of [0, -1, 1e-12, 1e9]) summary.observe(odd);
    expect(summary.read(0).count).toBe(4);
    expect(summary.read(0).quantiles.every((value) => value >= 0 && value <= 1e9)).toBe(true);
  });

  it("has no quantiles before the first value, and ten minutes after the last", () => {
    const summary = new WindowedSummary(0);
    expect(summary.read(0).quantiles.every(Number.isNaN)).toBe(true);
    summary.observe(2);
    for (let minute = 0; minute < 10; minute++) {
      expect(summary.read(minute * MINUTE).quantiles.at(-1)).toBe(2);
    }
    expect(summary.read(10 * MINUTE).quantiles.every(Number.isNaN)).toBe(true);
    expect(summary.read(10 * MINUTE)).toMatchObject({ sum: 2, count: 1 });
  });

  it("drops old values before new ones", () => {
    const summary = new WindowedSummary(0);
    summary.observe(9);
    summary.read(5 * MINUTE);
    summary.observe(1);
    expect(summary.read(9 * MINUTE).quantiles.at(-1)).toBe(9);
    expect(summary.read(12 * MINUTE).quantiles.at(-1)).toBe(1);
  });

  it("restarts its window when its clock was set back", () => {
    const summary = new WindowedSummary(1e6);
    summary.observe(9);
    summary.read(0);
    summary.observe(1);
    for (let minute = 0; minute < 9; minute++) summary.read(minute * MINUTE);
    expect(summary.read(9 * MINUTE).quantiles.at(-1)).toBe(1);
  });
});
