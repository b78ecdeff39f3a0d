import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { IS_THOROUGH, itIfThorough } from "../thorough.ts";
import { addSeed, noTotals, reportFailure } from "./report.ts";
import { runSetting } from "./runSeed.ts";
import { FORGETS_CERTIFICATE } from "./sabotage.ts";
import { drawSetting, FAULT_CLASSES, FAULT_FREE, type Setting, USUAL_LIMITS } from "./setting.ts";
import { createNetwork, type SimulatedNetwork } from "./simulator.ts";

/** `npm run simulate` takes fresh seeds, in any number. */
const SEEDS = IS_THOROUGH ? 30 : 6;

const CALM_SETTING = { byzantine: 0, isRuthless: false, conditions: FAULT_FREE, relays: undefined };

/** Messages per pair of nodes: two messages, an offered block, and half as many relays. */
const mostMessages = (validators: number): number => 3.5 * validators * (validators - 1);

async function messagesPerBlock(network: SimulatedNetwork, durationMs: number): Promise<number> {
  const { figures, height } = network;
  await network.runUntil(network.agenda.nowMs + durationMs);
  return (network.figures.messages - figures.messages) / (network.height - height);
}

describe("a network of validators", () => {
  it("decides every block in round 0, one a second, without faults", async () => {
    for (const validators of [1, 2, 3, 4, 10]) {
      const network = createNetwork({ ...CALM_SETTING, seed: validators, nodes: validators, validators });
      await network.runUntil(20_000);
      for (const { chain } of network.nodes) {
        expect(chain.length).toBeGreaterThanOrEqual(19);
        const rounds = new Set(chain.map(({ candidate }) => candidate.extra.round));
        expect([...rounds]).toEqual([0]);
      }
    }
  });

  it("does so with few links, through relaying", async () => {
    const relays = { links: 0, limits: USUAL_LIMITS };
    const network = createNetwork({ ...CALM_SETTING, seed: 1, nodes: 9, validators: 9, relays });
    network.calm();
    await network.runUntil(15_000);
    for (const { chain } of network.nodes) {
      expect(chain.length).toBeGreaterThanOrEqual(14);
      expect(chain.every(({ candidate }) => candidate.extra.round === 0)).toBe(true);
    }
  });

  itIfThorough("relays hardly anything when nearly all of forty are connected", async () => {
    const relays = { links: 0.97, limits: USUAL_LIMITS };
    const network = createNetwork({ ...CALM_SETTING, seed: 1, nodes: 40, validators: 40, relays });
    await network.runUntil(2_500);
    expect(await messagesPerBlock(network, 2_000)).toBeLessThan(mostMessages(40));
  });

  it("relays hardly anything, whether or not rounds fail", async () => {
    const relays = { links: 0.9, limits: USUAL_LIMITS };
    const network = createNetwork({ ...CALM_SETTING, seed: 1, nodes: 10, validators: 10, relays });
    await network.runUntil(4_500);
    expect(await messagesPerBlock(network, 5_000)).toBeLessThan(mostMessages(10));
    network.nodes[0]?.stop();
    expect(await messagesPerBlock(network, 20_000)).toBeLessThan(mostMessages(10));
  });

  it("relays everything again when links are cut silently", async () => {
    let reach = 5;
    const areLinked = (a: number, b: number): boolean => (b - a + 10) % 10 <= reach;
    const relays = { links: 0, limits: USUAL_LIMITS, areLinked };
    const network = createNetwork({ ...CALM_SETTING, seed: 1, nodes: 10, validators: 10, relays });
    await network.runUntil(6_500);
    const height = network.height;
    reach = 2;
    await network.runUntil(26_500);
    for (const { chain } of network.nodes) {
      const rounds = chain.slice(height + 1).map(({ candidate }) => candidate.extra.round);
      expect(rounds.length).toBeGreaterThan(18);
      expect(new Set(rounds)).toEqual(new Set([0]));
    }
  });

  it("is safe under any faults and among Byzantine validators, and makes progress afterwards", async () => {
    const totals = noTotals();
    for (let seed = 1; seed <= SEEDS; seed++) {
      const setting = drawSetting(seed);
      const { violation, figures } = await runSetting(setting);
      if (violation !== undefined) throw new Error(await reportFailure(setting, violation));
      addSeed(totals, setting, figures);
    }
    // Ensures that the faults did occur.
    expect(totals.laterRounds).toBeGreaterThan(SEEDS);
    expect(totals.powerCuts).toBeGreaterThan(SEEDS / 2);
    expect(totals.withByzantine).toBeGreaterThan(SEEDS / 3);
    expect(totals.withSetChanges).toBeGreaterThan(SEEDS / 20);
    expect(totals.withRelays).toBeGreaterThan(SEEDS / 3);
    expect(totals.kept).toBeGreaterThan(SEEDS);
    expect(totals.pauses).toBeGreaterThan(SEEDS);
  });

  it("is safe and makes progress with keys in other processes, which are slow and fail", async () => {
    for (let seed = 1; seed <= (IS_THOROUGH ? 20 : 3); seed++) {
      const drawn = drawSetting(seed);
      const conditions = { ...drawn.conditions, signMs: seed % 3 === 0 ? 3_000 : 200, signFailure: 0.02 };
      const setting = { ...drawn, conditions, hasRemoteSigners: true };
      const { violation } = await runSetting(setting);
      if (violation !== undefined) throw new Error(await reportFailure(setting, violation));
    }
  });

  it("holds for the seeds that once showed a bug", async () => {
    for (const line of readFileSync(new URL("seeds.txt", import.meta.url), "utf8").split("\n")) {
      const [seed = ""] = line.split(" ");
      if (!/^\d+$/.test(seed)) continue;
      const setting = drawSetting(Number(seed));
      const { violation } = await runSetting(setting);
      if (violation !== undefined) throw new Error(await reportFailure(setting, violation));
    }
  });
});

describe("a seed", () => {
  it("gives the same run every time", async () => {
    // With relays, power cuts and pauses.
    const setting = drawSetting(19);
    expect(await eventsOf(setting)).toEqual(await eventsOf(setting));
  });

  itIfThorough(
    "that fails is reported with its rates, the last events of each node, and the faults that matter",
    async () => {
      const setting = drawSetting(19);
      const parts = { sabotage: FORGETS_CERTIFICATE };
      const { violation } = await runSetting(setting, parts);
      expect(violation?.checker).toBe("promise");
      const report = violation && (await reportFailure(setting, violation, parts));
      expect(report).toContain("npm run simulate -- --seed 19 --trace");
      expect(report).toContain("downMs");
      expect(report).toContain("node a");
      for (const name of Object.keys(FAULT_CLASSES)) expect(report).toContain(`without ${name}: `);
    },
  );
});

async function eventsOf(setting: Setting): Promise<string[]> {
  const events: string[] = [];
  await runSetting(setting, {
    observe: ({ index, nowMs }, line) => events.push(`${nowMs} ${index} ${line()}`),
  });
  return events;
}
