import { describe, expect, it } from "vitest";
import { casesOf, someOf } from "../thorough.ts";
import type { CheckerName } from "./checkers.ts";
import { runSetting } from "./runSeed.ts";
import {
  BELIEVES_BUILDERS,
  BELIEVES_PROPOSERS,
  BELIEVES_ROUND_CHANGES,
  CAPS_TIMEOUTS,
  CAPS_TIMEOUTS_AND_JOINS_NOBODY,
  COUNTS_AUTHORS_TWICE,
  COUNTS_TURNS_BY_ROUND,
  FORGETS_CERTIFICATE,
  FORGETS_PREPARED_OVER_RESTARTS,
  FORGETS_VOTES,
  HOARDS,
  IGNORES_PAUSES,
  IMPORTS_UNSEALED,
  JOINS_ANYBODY,
  LOWERS_QUORUM,
  PASSES_NOTHING_ON,
  SPEAKS_BEFORE_SYNC,
  STAYS_FOR_EVER,
  TAKES_STALE_RESULTS,
  TAKES_STALE_TIMERS,
  TAKES_UNSOUND_BLOCKS,
  TRUSTS_SEALS,
} from "./sabotage.ts";
import { drawSetting, FAULT_FREE, type Setting, USUAL_LIMITS } from "./setting.ts";
import type { Sabotage } from "./simulatedNode.ts";

const ALL: readonly CheckerName[] = ["agreement", "promise", "evidence", "order", "bounds", "progress"];

const AS_DRAWN = (setting: Setting): Setting => setting;

/** For sabotage that does not concern relaying: it is faster. */
const NO_RELAYS = { relays: undefined } as const;

const LONG_SYNCS = (setting: Setting): Setting => ({
  ...setting,
  ...NO_RELAYS,
  conditions: { ...setting.conditions, crash: 0.03, powerCut: 1, downMs: 200, syncMs: 300 },
});

/** Four nodes, of which one may have a block that the others do not receive. */
const BLOCKS_GET_LOST = (setting: Setting): Setting => ({
  ...setting,
  ...{ nodes: 4, validators: 4, byzantine: 0 },
  conditions: { ...setting.conditions, loss: 0.2, blockLoss: 0.95, crash: 0 },
});

const FOUR_HONEST = (setting: Setting): Setting => ({ ...setting, nodes: 4, validators: 4, byzantine: 0 });

const FOUR_WITH_BYZANTINE = (setting: Setting): Setting => ({
  ...setting,
  ...{ nodes: 4, validators: 4, byzantine: 1, isRuthless: false },
});

/** Only lost messages keep validators apart, and a Byzantine validator may mislead them. */
const BYZANTINE_AND_LOST_MESSAGES = (setting: Setting): Setting => ({
  ...FOUR_WITH_BYZANTINE(setting),
  ...NO_RELAYS,
  conditions: { ...FAULT_FREE, loss: 0.3 },
});

const FOUR_WITH_RUTHLESS = (setting: Setting): Setting => ({
  ...FOUR_WITH_BYZANTINE(setting),
  isRuthless: true,
});

/** Validations that outlast their round, and a Byzantine validator that proposes invalid blocks. */
const LONG_CHECKS = (setting: Setting): Setting => ({
  ...FOUR_WITH_RUTHLESS(setting),
  ...NO_RELAYS,
  conditions: {
    ...setting.conditions,
    ...{ checkMs: 3_500, buildMs: 50, commitMs: 50, delayMs: 50 },
    ...{ loss: 0, blockLoss: 0, crash: 0, partition: 0, pause: 0 },
  },
});

/** A Byzantine validator may propose anything while one node has a block that the others do not receive. */
const BYZANTINE_AND_LOST_BLOCKS = (setting: Setting): Setting => ({
  ...FOUR_WITH_RUTHLESS(setting),
  ...NO_RELAYS,
  conditions: { ...FAULT_FREE, loss: 0.2, blockLoss: 0.95 },
});

const BYZANTINE_AND_RESTARTS = (setting: Setting): Setting => ({
  ...FOUR_WITH_RUTHLESS(setting),
  ...NO_RELAYS,
  conditions: { ...setting.conditions, loss: 0.2, blockLoss: 0.95, crash: 0.04, downMs: 100, pause: 0 },
});

/** Many nodes, few links, and no Byzantine validators. */
const FEW_LINKS = (setting: Setting): Setting => ({
  ...setting,
  ...{ nodes: 10, validators: 10, byzantine: 0 },
  conditions: FAULT_FREE,
  relays: { links: 0, limits: USUAL_LIMITS },
});

const LONGEST_MS = 10 * 60_000;

/** Too long for the daily run: set by `npm run test:long`. */
const LONG_SEEDS = Number(process.env["IBEX_SABOTAGE_SEEDS"] ?? 0);

/** Each sabotage must be caught by its checker within a number of seeds, or the simulator checks nothing. */
describe("the simulator catches validators that", () => {
  const cases: readonly Case[] = [
    ["forget their votes when they stop", FORGETS_VOTES, "promise", 50, AS_DRAWN, 9],
    ["vote before the record is durable", SPEAKS_BEFORE_SYNC, "promise", 60, LONG_SYNCS, 15],
    ["forget over a restart what was prepared", FORGETS_PREPARED_OVER_RESTARTS, "promise", 60],
    ["do not bring prepared blocks to the next round", FORGETS_CERTIFICATE, "promise", 20],
    [
      "do not bring prepared blocks to the next round",
      FORGETS_CERTIFICATE,
      "agreement",
      100,
      BLOCKS_GET_LOST,
      18,
    ],
    ["lower the quorum by one", LOWERS_QUORUM, "evidence", 20],
    ["lower the quorum by one", LOWERS_QUORUM, "agreement", 60, FOUR_WITH_RUTHLESS],
    ["take a stale validation result", TAKES_STALE_RESULTS, "evidence", 100, LONG_CHECKS, 7],
    ["take turns from the round, not from the block", COUNTS_TURNS_BY_ROUND, "order", 50],
    ["take turns from the round, not from the block", COUNTS_TURNS_BY_ROUND, "progress", 80],
    ["count an author twice", COUNTS_AUTHORS_TWICE, "evidence", 20],
    ["take any seal for its bearer's", TRUSTS_SEALS, "evidence", 20],
    ["believe a proposer without proof", BELIEVES_PROPOSERS, "evidence", 60],
    ["accept any prepared certificate of a RoundChange", BELIEVES_ROUND_CHANGES, "evidence", 60],
    ["believe who is named as a block's builder", BELIEVES_BUILDERS, "evidence", 40, FOUR_WITH_RUTHLESS],
    ["accept invalid blocks", TAKES_UNSOUND_BLOCKS, "evidence", 40, FOUR_WITH_RUTHLESS],
    ["import blocks with any seals", IMPORTS_UNSEALED, "evidence", 20],
    ["never join later rounds", CAPS_TIMEOUTS_AND_JOINS_NOBODY, "progress", 40, FOUR_HONEST],
    ["wait for others for ever", STAYS_FOR_EVER, "progress", 40, FOUR_HONEST],
    ["join later rounds after any request", JOINS_ANYBODY, "progress", 60, BYZANTINE_AND_LOST_MESSAGES],
    ["pass nothing on", PASSES_NOTHING_ON, "progress", 1, FEW_LINKS],
    ["keep more than they may", HOARDS, "bounds", 20],
    ["take part while they should stand still", IGNORES_PAUSES, "order", 20],
    ["leave rounds by stale timers", TAKES_STALE_TIMERS, "progress", 50, AS_DRAWN, 9],
  ];
  const rare: readonly Case[] = [
    [
      "forget their votes when they stop",
      FORGETS_VOTES,
      "agreement",
      LONG_SEEDS,
      BYZANTINE_AND_RESTARTS,
      203,
    ],
    [
      "believe a proposer without proof",
      BELIEVES_PROPOSERS,
      "agreement",
      LONG_SEEDS,
      BYZANTINE_AND_LOST_BLOCKS,
      286,
    ],
  ];
  for (const [name, sabotage, checker, seeds, sharpen = AS_DRAWN, first = 1] of someOf([...cases, ...rare])) {
    it.skipIf(seeds === 0)(
      `${name}: ${checker}`,
      async () => {
        const seedAt = (index: number): number => 1 + ((first - 1 + index) % seeds);
        const settings = Array.from({ length: seeds }, (_, index) => sharpen(drawSetting(seedAt(index))));
        expect(await isCaughtInOneOf(settings, sabotage, checker)).toBe(true);
      },
      LONGEST_MS,
    );
  }

  it("but not those that cap their timeouts: the join rule brings them together anyway", async () => {
    const settings = Array.from({ length: casesOf(10) }, (_, index) => FOUR_HONEST(drawSetting(index + 1)));
    expect(await isCaughtInOneOf(settings, CAPS_TIMEOUTS, "progress")).toBe(false);
  });
});

/**
 * Name, sabotage, checker, seeds, a change of each setting that makes the sabotage matter often, and the seed that is tried
 * first, since it showed the sabotage when this was written.
 */
type Case = readonly [string, Sabotage, CheckerName, number, ((setting: Setting) => Setting)?, number?];

/** The other checkers are off, so that each has to find its own violations. */
async function isCaughtInOneOf(
  settings: readonly Setting[],
  sabotage: Sabotage,
  checker: CheckerName,
): Promise<boolean> {
  const blindTo = ALL.filter((other) => other !== checker);
  for (const setting of settings) {
    const { violation } = await runSetting(setting, { sabotage, blindTo });
    if (violation?.checker === checker) return true;
  }
  return false;
}
