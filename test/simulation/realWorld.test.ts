import { describe, expect, it } from "vitest";
import { drawRealSetting, type RealFigures, type RealSabotage, runRealSetting } from "./realWorld.ts";

/** The daily run; the long run asks for more (`npm run test:long`). */
const SEEDS = Number(process.env["IBEX_REAL_WORLDS"] ?? 3);
/** In the first three nodes are cut off, stopped, parted, voted in and left behind. */
const FIRST_SEED = Number(process.env["IBEX_SEED"] ?? 10);
const LONGEST_MS = 60_000;

describe("a network of real nodes", () => {
  const lived: RealFigures[] = [];

  it.each(Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index))(
    "agrees, loses nothing and mines all, whatever befalls it (IBEX_SEED=%i)",
    async (seed) => {
      const figures = await runRealSetting(drawRealSetting(seed));
      lived.push(figures);
      expect(figures.blocks).toBeGreaterThanOrEqual(3);
    },
    LONGEST_MS,
  );

  it.skipIf(process.env["IBEX_SEED"] !== undefined)("had storms that were storms", () => {
    const most = (figure: keyof RealFigures): number => Math.max(...lived.map((figures) => figures[figure]));
    expect(most("powerCuts")).toBeGreaterThan(0);
    expect(most("stops")).toBeGreaterThan(0);
    expect(most("partitions")).toBeGreaterThan(0);
    expect(most("pauses")).toBeGreaterThan(0);
    expect(most("laterRounds")).toBeGreaterThan(0);
    expect(most("validators")).toBeGreaterThan(4);
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
    await expect(runRealSetting(drawRealSetting(seed), sabotage)).rejects.toThrow(words);
  });
});
