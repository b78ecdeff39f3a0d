import { describe, expect, it } from "vitest";
import type { Transition } from "../../src/ibft/step.ts";
import { createWorld, drawStorm, FAIR, type Sabotage } from "./simulator.ts";

const STORM_MS = 60_000;
/** Longest wait for blocks after the storm: the timeouts that grew in it must run out. */
const CALM_MS = 15 * 60_000;
const SEEDS = 150;
/** A saboteur must be caught within so many. */
const SABOTAGE_SEEDS = 400;

describe("a network of honest validators", () => {
  it("decides every block in round 0, one a second, while all is well", () => {
    for (const validators of [1, 2, 3, 4, 7]) {
      const world = createWorld({ seed: validators, nodes: validators, validators, weather: FAIR });
      world.agenda.runUntil(100_000);
      for (const { chain } of world.nodes) {
        expect(chain.length).toBeGreaterThanOrEqual(99);
        const rounds = new Set(chain.map(({ candidate }) => candidate.extra.round));
        expect([...rounds]).toEqual([0]);
      }
    }
  });

  it("is safe in any storm, and goes on after it", () => {
    let changes = 0;
    let rounds = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { nodes } = runSeed(seed);
      const { chain } = nodes[0] ?? { chain: [] };
      rounds += chain.filter(({ candidate }) => candidate.extra.round > 0).length;
      changes += new Set(chain.map(({ head }) => head.tally.validators.length)).size - 1;
    }
    // The storms were storms.
    expect(rounds).toBeGreaterThan(SEEDS);
    expect(changes).toBeGreaterThan(SEEDS / 10);
  });
});

/** Each saboteur must be caught within the seeds, or the simulator is not looking. */
describe("the simulator catches", () => {
  it("validators that forget their votes", () => {
    expect(firstViolation({ remember: () => undefined })).toMatch(/^(promise|agreement)/);
  });

  it("validators that do not bring prepared blocks to the next round", () => {
    const spoil = ({ state, effects }: Transition): Transition => ({
      state:
        state.height === undefined ? state : { ...state, height: { ...state.height, prepared: undefined } },
      effects,
    });
    expect(firstViolation({ spoil })).toMatch(/^agreement/);
  });

  it("a quorum that is one lower", () => {
    const spoil = ({ state, effects }: Transition): Transition => {
      const { height } = state;
      if (height === undefined) return { state, effects };
      const { validators } = height.committee;
      const quorum = Math.max(1, Math.ceil((2 * validators.length) / 3) - 1);
      const committee = { ...height.committee, quorum, prepareQuorum: Math.max(0, quorum - 1) };
      return { state: { ...state, height: { ...height, committee } }, effects };
    };
    expect(firstViolation({ spoil })).toMatch(/^(agreement|evidence)/);
  });
});

/** Throws what the checkers find. */
function runSeed(seed: number, sabotage?: Sabotage): ReturnType<typeof createWorld> {
  const validators = 4 + (seed % 4);
  const world = createWorld({
    seed,
    nodes: validators + (seed % 2),
    validators,
    weather: drawStorm(seed),
    ...(sabotage !== undefined && { sabotage }),
  });
  world.agenda.runUntil(STORM_MS);
  world.calm();
  const goal = world.height + 5;
  const isThere = (): boolean => world.nodes.every(({ chain }) => chain.length > goal);
  for (let atMs = STORM_MS; atMs < STORM_MS + CALM_MS && !isThere(); atMs += 5_000) {
    world.agenda.runUntil(atMs + 5_000);
  }
  if (!isThere()) throw new Error(`progress: no ${goal} blocks in the calm (seed ${seed})`);
  return world;
}

function firstViolation(sabotage: Sabotage): string | undefined {
  for (let seed = 1; seed <= SABOTAGE_SEEDS; seed++) {
    try {
      runSeed(seed, sabotage);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  return undefined;
}
