import { expect, it } from "vitest";
import { beginTimeSlice, SliceUsedUp } from "../../src/primitives/timeSlice.ts";

const clocks = { now: 0, cpu: 0, nowMs: () => clocks.now, cpuMs: () => clocks.cpu };

const LIMITS = { cpuMs: 100, longestMs: 500 };

function turn(byMs: number, cpuMs: number): void {
  clocks.now += byMs;
  clocks.cpu += cpuMs;
}

it("a slice is used up after its time on a processor", () => {
  const slice = beginTimeSlice(LIMITS, clocks);
  turn(99, 99);
  expect(slice.isUsedUp()).toBe(false);
  turn(1, 1);
  expect(slice.isUsedUp()).toBe(true);
  expect(() => slice.giveUp()).toThrow(SliceUsedUp);
});

it("a slice lasts longer while its thread waits for a processor, but not for ever", () => {
  const slice = beginTimeSlice(LIMITS, clocks);
  turn(300, 60);
  expect(slice.isUsedUp()).toBe(false);
  turn(40, 40);
  expect(slice.isUsedUp()).toBe(true);
  const starved = beginTimeSlice(LIMITS, clocks);
  turn(499, 1);
  expect(starved.isUsedUp()).toBe(false);
  turn(1, 0);
  expect(starved.isUsedUp()).toBe(true);
});
