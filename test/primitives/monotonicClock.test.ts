import { beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../../src/primitives/clock.ts";
import { createMonotonicClock, STEP_LASTS_MS } from "../../src/primitives/monotonicClock.ts";

const HOUR_MS = 3_600_000;
const START_MS = 1_700_000_000_000;

let passedMs: number;
let sleptMs: number;
let setByMs: number;
let told: string[];
let clock: Clock;

beforeEach(() => {
  passedMs = 0;
  sleptMs = 0;
  setByMs = 0;
  told = [];
  clock = createMonotonicClock({
    wallMs: () => START_MS + passedMs + sleptMs + setByMs,
    monotonicMs: () => 5000 + passedMs,
    sinceBootMs: () => 90_000 + passedMs + sleptMs,
    onStep: (stepMs) => told.push(`step ${stepMs}`),
    onReturn: () => told.push("return"),
    onFollow: (stepMs) => told.push(`follow ${stepMs}`),
  });
});

/** The time shown, relative to the start. */
function shown(): number {
  return clock.nowMs() - START_MS;
}

describe("a steady clock", () => {
  it("shows the wall clock's time and follows its small corrections without a word", () => {
    passedMs = 10_000;
    expect(shown()).toBe(10_000);
    for (const correctionMs of [400, -300, 900]) {
      setByMs += correctionMs;
      passedMs += 1000;
      expect(shown()).toBe(passedMs + setByMs);
    }
    expect(told).toEqual([]);
  });

  it.each([HOUR_MS, -HOUR_MS])(
    "keeps to the time before a step of %d ms, says so once, and follows it after a minute",
    (stepMs) => {
      passedMs = 1000;
      shown();
      setByMs = stepMs;
      for (; passedMs < STEP_LASTS_MS; passedMs += 1000) expect(shown()).toBe(passedMs);
      expect(told).toEqual([`step ${stepMs}`]);
      passedMs += 1000;
      expect(shown()).toBe(passedMs + stepMs);
      passedMs += 1000;
      expect(shown()).toBe(passedMs + stepMs);
      expect(told).toEqual([`step ${stepMs}`, `follow ${stepMs}`]);
    },
  );

  it("forgets a step that is taken back within the minute", () => {
    setByMs = HOUR_MS;
    passedMs = 1000;
    expect(shown()).toBe(1000);
    setByMs = 0;
    passedMs = 30_000;
    expect(shown()).toBe(30_000);
    passedMs = 2 * STEP_LASTS_MS;
    expect(shown()).toBe(2 * STEP_LASTS_MS);
    expect(told).toEqual([`step ${HOUR_MS}`, "return"]);
  });

  it("begins the minute anew when the clock is set again", () => {
    setByMs = HOUR_MS;
    shown();
    passedMs = STEP_LASTS_MS - 1000;
    setByMs = 2 * HOUR_MS;
    expect(shown()).toBe(passedMs);
    passedMs += STEP_LASTS_MS - 1000;
    expect(shown()).toBe(passedMs);
    passedMs += 2000;
    expect(shown()).toBe(passedMs + 2 * HOUR_MS);
  });

  it("follows at once when the machine has slept", () => {
    passedMs = 1000;
    shown();
    sleptMs = HOUR_MS;
    passedMs = 2000;
    expect(shown()).toBe(2000 + HOUR_MS);
    expect(told).toEqual([]);
  });
});
