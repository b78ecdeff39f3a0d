import { beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../../src/primitives/clock.ts";
import { createMonotonicClock, STEP_LASTS_MS } from "../../src/primitives/monotonicClock.ts";

const HOUR_MS = 3_600_000;
const START_MS = 1_700_000_000_000;

let passedMs: number;
let sleptMs: number;
let setByMs: number;
let calls: string[];
let clock: Clock;

beforeEach(() => {
  passedMs = 0;
  sleptMs = 0;
  setByMs = 0;
  calls = [];
  clock = createMonotonicClock({
    wallMs: () => START_MS + passedMs + sleptMs + setByMs,
    monotonicMs: () => 5000 + passedMs,
    sinceBootMs: () => 90_000 + passedMs + sleptMs,
    onStep: (stepMs) => calls.push(`step ${stepMs}`),
    onReturn: () => calls.push("return"),
    onFollow: (stepMs) => calls.push(`follow ${stepMs}`),
  });
});

/** The clock's time since the start. */
function timeMs(): number {
  return clock.nowMs() - START_MS;
}

describe("the monotonic clock", () => {
  it("follows the wall clock and its small corrections without a report", () => {
    passedMs = 10_000;
    expect(timeMs()).toBe(10_000);
    for (const correctionMs of [400, -300, 900]) {
      setByMs += correctionMs;
      passedMs += 1000;
      expect(timeMs()).toBe(passedMs + setByMs);
    }
    expect(calls).toEqual([]);
  });

  it.each([HOUR_MS, -HOUR_MS])(
    "ignores a step of %d ms at first, reports it once, and follows it after a minute",
    (stepMs) => {
      passedMs = 1000;
      timeMs();
      setByMs = stepMs;
      for (; passedMs < STEP_LASTS_MS; passedMs += 1000) expect(timeMs()).toBe(passedMs);
      expect(calls).toEqual([`step ${stepMs}`]);
      passedMs += 1000;
      expect(timeMs()).toBe(passedMs + stepMs);
      passedMs += 1000;
      expect(timeMs()).toBe(passedMs + stepMs);
      expect(calls).toEqual([`step ${stepMs}`, `follow ${stepMs}`]);
    },
  );

  it("forgets a step that is reversed within the minute", () => {
    setByMs = HOUR_MS;
    passedMs = 1000;
    expect(timeMs()).toBe(1000);
    setByMs = 0;
    passedMs = 30_000;
    expect(timeMs()).toBe(30_000);
    passedMs = 2 * STEP_LASTS_MS;
    expect(timeMs()).toBe(2 * STEP_LASTS_MS);
    expect(calls).toEqual([`step ${HOUR_MS}`, "return"]);
  });

  it("restarts the minute when the clock is set again", () => {
    setByMs = HOUR_MS;
    timeMs();
    passedMs = STEP_LASTS_MS - 1000;
    setByMs = 2 * HOUR_MS;
    expect(timeMs()).toBe(passedMs);
    passedMs += STEP_LASTS_MS - 1000;
    expect(timeMs()).toBe(passedMs);
    passedMs += 2000;
    expect(timeMs()).toBe(passedMs + 2 * HOUR_MS);
  });

  it("follows at once when the system has slept", () => {
    passedMs = 1000;
    timeMs();
    sleptMs = HOUR_MS;
    passedMs = 2000;
    expect(timeMs()).toBe(2000 + HOUR_MS);
    expect(calls).toEqual([]);
  });
});
