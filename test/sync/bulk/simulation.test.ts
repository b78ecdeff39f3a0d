import { describe, expect, it } from "vitest";
import { casesOf } from "../../thorough.ts";
import { Simulation } from "./simulation.ts";

const ROUND = Math.floor(Math.random() * 2 ** 31);
const SEEDS =
  process.env["IBEX_SEED"] === undefined
    ? Array.from(
        { length: Number(process.env["IBEX_SIMULATIONS"] ?? casesOf(90)) },
        (_, index) => (ROUND + index) % 2 ** 31,
      )
    : [Number(process.env["IBEX_SEED"])];

describe("a node far behind peers of all kinds", () => {
  it.each(SEEDS)("catches up, within all bounds (IBEX_SEED=%i)", async (seed) => {
    const simulation = new Simulation(seed);
    await simulation.run();
    expect([...simulation.problems], simulation.facts).toEqual([]);
    expect(simulation.isCaughtUp, simulation.facts).toBe(true);
  });
});
