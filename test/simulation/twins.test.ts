import { describe, expect, it } from "vitest";
import type { DoubtReason } from "../../src/ibft/lastSigned.ts";
import { itIfThorough, someOf } from "../thorough.ts";
import { Violation } from "./checkers.ts";
import { createRandom } from "./random.ts";
import { IGNORES_ITS_KEY } from "./sabotage.ts";
import { FAULT_FREE, type NetworkConditions, type Setting, USUAL_LIMITS } from "./setting.ts";
import type { Sabotage, SimulatedNode } from "./simulatedNode.ts";
import { createNetwork } from "./simulator.ts";

const SEEDS = Number(process.env["IBEX_TWINS"] ?? 2);
/** With fewer than six, hardly one of them votes twice; those after the first few double votes are not needed. */
const SABOTAGED_SEEDS = Math.max(6, SEEDS);

/** Four validators a to d; the fifth node starts later with the key of a, and a copy of its folder or nothing else. */
const [A, TWIN] = [0, 4];

/** Which nodes are connected; the two with one key never are, and no node is connected with both. */
const TOPOLOGIES: Readonly<Record<string, (one: number, other: number) => boolean>> = {
  "the second at one validator": (one, other) => areLinked(one, other, [3]),
  "each at its own side": (one, other) => areLinked(one, other, [2, 3]),
  "in a line": (one, other) => Math.abs(one - other) === 1,
};

describe("two nodes with one key", () => {
  it.each(someOf(Object.keys(TOPOLOGIES)))(
    "decide no two blocks of one height, and the second is silent: %s",
    async (name) => {
      let ownKey = 0;
      let contradictions = 0;
      for (let seed = 1; seed <= SEEDS; seed++) {
        const { doubts, doubleVotes, heights } = await run(settingOf(seed, name));
        expect([seed, heights > 20]).toEqual([seed, true]);
        if (doubleVotes > 0) contradictions++;
        if (doubts.has("ownKey")) ownKey++;
      }
      // It may come to vote where neither of two blocks has a seal of the first, until its own turn to propose shows it.
      expect(contradictions).toBeLessThanOrEqual(Math.ceil(SEEDS * 0.1));
      expect(ownKey).toBeGreaterThanOrEqual(SEEDS * 0.8);
    },
  );

  it("decide no two blocks of one height under losses and partitions", async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const [name = ""] = Object.keys(TOPOLOGIES).slice(seed % 3);
      await run(settingOf(seed, name, { loss: 0.15, partition: 0.4, delayMs: 300 }));
    }
  });

  it("the second takes part when the first has stopped, and the first goes on when the second has", async () => {
    for (const stopped of [A, TWIN]) {
      const network = await begin(settingOf(7, "each at its own side"));
      await network.runUntil(50_000);
      network.nodes[stopped]?.stop();
      await network.runUntil(80_000);
      const left = network.nodes[stopped === A ? TWIN : A];
      expect(left?.state?.lastSigned?.doubt).toBeUndefined();
      expect(left?.state?.height).toBeDefined();
    }
  });

  itIfThorough("vote twice where the second does not heed its key's votes", async () => {
    let doubleVotes = 0;
    for (let seed = 1; seed <= SABOTAGED_SEEDS && doubleVotes <= SABOTAGED_SEEDS; seed++) {
      const found = await run(settingOf(seed, "each at its own side"), IGNORES_ITS_KEY);
      doubleVotes += found.doubleVotes;
    }
    expect(doubleVotes).toBeGreaterThan(SABOTAGED_SEEDS);
  });
});

function isPair(one: number, other: number, a: number, b: number): boolean {
  return (one === a && other === b) || (one === b && other === a);
}

/** `ofTwin` are connected to the second node, not to the first; b, c and d are all connected. */
function areLinked(one: number, other: number, ofTwin: readonly number[]): boolean {
  if (isPair(one, other, A, TWIN)) return false;
  const key = [A, TWIN].find((index) => index === one || index === other);
  if (key === undefined) return true;
  return ofTwin.includes(one === key ? other : one) === (key === TWIN);
}

function settingOf(seed: number, topology: string, change: Partial<NetworkConditions> = {}): Setting {
  const linked = TOPOLOGIES[topology];
  if (linked === undefined) throw new Error(`no topology ${topology}`);
  return {
    ...{ seed, nodes: 5, validators: 4, byzantine: 0, isRuthless: false, twinOf: A },
    conditions: { ...FAULT_FREE, ...change },
    relays: { links: 1, areLinked: linked, limits: USUAL_LIMITS },
  };
}

/** Runs for a while, then starts the second node: with a copy of record and chain as they are or were, or with the key alone. */
async function begin(setting: Setting, sabotage: Sabotage = {}) {
  const random = createRandom(setting.seed ^ 0x7415);
  // What the two say is excused: together they are one Byzantine validator, which four tolerate.
  const network = createNetwork(setting, { sabotage });
  const [first, second] = [A, TWIN].map((index) => network.nodes[index]) as [SimulatedNode, SimulatedNode];
  network.excuse(first, 1_000_000n);
  const copiedMs = 50_000 + random.between(-8_000, 0);
  await network.runUntil(copiedMs - 5_000);
  const copy = { record: first.record, chain: [...first.chain] };
  await network.runUntil(copiedMs);
  const kind = random.between(0, 2);
  const { record, chain } = kind === 0 ? copy : { record: first.record, chain: [...first.chain] };
  if (kind < 2) {
    second.chain.splice(0, second.chain.length, ...chain);
    second.restore(record);
  }
  second.boot();
  return {
    ...network,
    runUntil: network.runUntil,
    nodes: network.nodes,
    figures: () => network.figures,
    height: () => network.height,
  };
}

async function run(setting: Setting, sabotage: Sabotage = {}) {
  const network = await begin(setting, sabotage);
  const doubts = new Set<DoubtReason>();
  const height = network.height();
  try {
    for (let atMs = 51_000; atMs <= 85_000; atMs += 500) {
      await network.runUntil(atMs);
      for (const { state } of network.nodes)
        if (state?.lastSigned?.doubt !== undefined) doubts.add(state.lastSigned.doubt.reason);
    }
  } catch (error) {
    if (error instanceof Violation) throw new Error(`seed ${setting.seed}: ${error.message}`);
    throw error;
  }
  return { doubts, doubleVotes: network.figures().doubleVotes, heights: network.height() - height };
}
