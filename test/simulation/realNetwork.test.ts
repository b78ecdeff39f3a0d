import { describe, expect, it } from "vitest";
import { TEST_HANG_MS } from "../hang.ts";
import { itIfThorough } from "../thorough.ts";
import { drawRealSetting, type RealFigures, type RealSabotage, runRealSetting } from "./realNetwork.ts";

/** The daily run; the long run asks for more (`npm run test:long`). */
const SEEDS = Number(process.env["IBEX_REAL_WORLDS"] ?? 1);
const FIRST_SEED = Number(process.env["IBEX_SEED"] ?? 10);
const LONGEST_MS = TEST_HANG_MS;
/** Allows for other load on the machine. */
const BUSY_MS = 30;

describe("a network of real nodes", () => {
  const results: RealFigures[] = [];

  it.each(Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index))(
    "agrees, loses nothing and mines all, whatever befalls it (IBEX_SEED=%i)",
    async (seed) => {
      const figures = await runRealSetting(drawRealSetting(seed));
      results.push(figures);
      expect(figures.blocks).toBeGreaterThanOrEqual(3);
    },
    LONGEST_MS,
  );

  it(
    "agrees and goes on when validators lose the last blocks of their databases",
    async () => {
      let lostEnds = 0;
      for (let seed = FIRST_SEED; seed < FIRST_SEED + Math.ceil(SEEDS / 4); seed++) {
        const setting = { ...drawRealSetting(seed), outage: 0.15, lostEnd: 1 };
        lostEnds += (await runRealSetting(setting)).lostEnds;
      }
      expect(lostEnds).toBeGreaterThan(0);
    },
    2 * LONGEST_MS,
  );

  itIfThorough(
    "runs the same again from the same seed, on however busy a machine",
    async () => {
      const first = await runRealSetting(drawRealSetting(FIRST_SEED));
      const busy = setInterval(() => {
        const untilMs = performance.now() + BUSY_MS;
        while (performance.now() < untilMs);
      }, 3 * BUSY_MS);
      try {
        expect(await runRealSetting(drawRealSetting(FIRST_SEED))).toEqual(first);
      } finally {
        clearInterval(busy);
      }
    },
    2 * LONGEST_MS,
  );

  it.skipIf(process.env["IBEX_SEED"] !== undefined)("had faults of all kinds in the faulty phases", () => {
    const sum = (figure: keyof RealFigures): number =>
      results.reduce((total, figures) => total + figures[figure], 0);
    expect(sum("powerCuts") + sum("stops")).toBeGreaterThan(SEEDS);
    expect(sum("laterRounds")).toBeGreaterThan(0);
    expect(sum("transactions")).toBeGreaterThan(100 * SEEDS);
  });

  it.each<[string, number, RealSabotage, RegExp]>([
    [
      "whose disks say too early that they have written",
      1,
      { syncs: "some time later" },
      /is lost|lost its end/,
    ],
    ["that forget their votes", 4, { forgetsVotes: true }, /promise: /],
  ])("is found out with nodes %s", async (_whose, seed, sabotage, words) => {
    await expect(runRealSetting({ ...drawRealSetting(seed), lostEnd: 0 }, sabotage)).rejects.toThrow(words);
  });
});
