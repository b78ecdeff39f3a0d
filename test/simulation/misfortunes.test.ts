import { describe, expect, it } from "vitest";
import { itIfThorough } from "../thorough.ts";
import type { CheckerName } from "./checkers.ts";
import { drawMisfortunes, type Misfortune, runMisfortunes } from "./misfortunes.ts";
import {
  FORGETS_DOUBTS,
  LOOKS_AT_NO_TIME,
  LOSES_VOTES_WITH_THE_END,
  NEEDS_NO_RECORD,
  OVERLOOKS_OWN_SEALS,
  WAITS_FOR_NO_END,
} from "./sabotage.ts";
import type { Setting } from "./setting.ts";
import type { Sabotage } from "./simulatedNode.ts";

const SEEDS = Number(process.env["IBEX_MISFORTUNES"] ?? 4);
/** The ten from here on have every misfortune and a time when all had to forget, in half of the time that the very first take. */
const FIRST_SEED = 20;

const LONGEST_MS = 10 * 60_000;

describe("a network whose validators lose their votes, or get old ones back", () => {
  it(
    "never forks, and goes on as soon as a quorum may speak",
    async () => {
      const totals = { lost: 0, old: 0, wiped: 0, cut: 0, restored: 0, silences: 0, forgotten: 0 };
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
        const { violation, figures } = await runMisfortunes(drawMisfortunes(seed));
        expect([seed, violation]).toEqual([seed, undefined]);
        for (const [kind, times] of Object.entries(figures.suffered)) totals[kind as Misfortune] += times;
        totals.silences += figures.silences;
        totals.forgotten += figures.forgotten;
      }
      // Ensures that each of them did occur.
      for (const [what, times] of Object.entries(totals))
        expect([what, times > SEEDS / 20]).toEqual([what, true]);
    },
    LONGEST_MS,
  );

  it(
    "never contradicts itself after the end of its chain is lost, even where it does not wait for that: its record binds it",
    async () => {
      let cuts = 0;
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS / 5; seed++) {
        const parts = { sabotage: WAITS_FOR_NO_END };
        const { violation, figures } = await runMisfortunes(drawMisfortunes(seed), ["cut"], parts);
        expect([seed, violation]).toEqual([seed, undefined]);
        cuts += figures.suffered.cut;
      }
      expect(cuts).toBeGreaterThan(SEEDS / 10);
    },
    LONGEST_MS,
  );

  it(
    "never contradicts itself by lost votes, however wrong the clocks are",
    async () => {
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS / 5; seed++) {
        const { violation } = await runMisfortunes(withWrongClocks(drawMisfortunes(seed)), ["lost", "old"]);
        expect([seed, violation]).toEqual([seed, undefined]);
      }
    },
    LONGEST_MS,
  );
});

const AS_DRAWN = (setting: Setting): Setting => setting;

/** Each rule is needed: without it, a validator is seen to contradict itself within so many seeds. */
describe("the simulator catches validators that", () => {
  const cases: readonly Case[] = [
    ["take part without a record", NEEDS_NO_RECORD, ["lost"], 40],
    ["lose their last blocks and the record of their votes", LOSES_VOTES_WITH_THE_END, ["cut"], 60],
    ["overlook their seals above an old record", OVERLOOKS_OWN_SEALS, ["old"], 60],
    ["go by heights alone after their chain is lost too", LOOKS_AT_NO_TIME, ["wiped"], 60],
    ["forget over a restart that they are in doubt", FORGETS_DOUBTS, ["lost"], 60, withRestarts],
  ];
  for (const [name, sabotage, kinds, seeds, sharpen = AS_DRAWN] of cases) {
    // With restarts it takes the longest of them.
    (sharpen === withRestarts ? itIfThorough : it)(
      name,
      async () => {
        const settings = Array.from({ length: seeds }, (_, index) =>
          sharpen(drawMisfortunes(FIRST_SEED + index)),
        );
        expect(await isCaughtInOneOf(settings, sabotage, kinds)).toBe(true);
      },
      LONGEST_MS,
    );
  }
});

/** Name, sabotage, what happens, seeds, and a change of each setting. */
type Case = readonly [string, Sabotage, readonly Misfortune[], number, ((setting: Setting) => Setting)?];

const ALL_BUT_PROMISE: readonly CheckerName[] = ["agreement", "evidence", "order", "bounds", "progress"];

async function isCaughtInOneOf(
  settings: readonly Setting[],
  sabotage: Sabotage,
  kinds: readonly Misfortune[],
): Promise<boolean> {
  for (const setting of settings) {
    const { violation } = await runMisfortunes(setting, kinds, { sabotage, blindTo: ALL_BUT_PROMISE });
    if (violation?.checker === "promise") return true;
  }
  return false;
}

function withWrongClocks(setting: Setting): Setting {
  return { ...setting, conditions: { ...setting.conditions, skewMs: 12_000 } };
}

function withRestarts(setting: Setting): Setting {
  return { ...setting, conditions: { ...setting.conditions, crash: 0.03, downMs: 200 } };
}
