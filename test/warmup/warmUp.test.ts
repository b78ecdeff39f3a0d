import { describe, expect, it } from "vitest";
import {
  BEGIN_AFTER_MS,
  BUSY_PAUSE_MS,
  GIVE_UP_AFTER_MS,
  PAUSE_MS,
  TRANSFERS,
  WarmUp,
} from "../../src/warmup/warmUp.ts";
import { createHandClock } from "../builders/handClock.ts";

/** More than the transfers of any step, which are to take milliseconds. */
const MANY = 65;

function aWarmUp() {
  const clock = createHandClock(0);
  const seen = { offered: [[], []] as number[][], built: 0, calls: 0, faults: 0, isIdle: true };
  const chainOf = (offered: number[]) => ({
    offer: async (count: number) => void offered.push(count),
    build: async () => void seen.built++,
  });
  const warmUp = new WarmUp({
    clock,
    openChains: async () => seen.offered.map(chainOf),
    answerCalls: (count) => {
      seen.calls += count;
    },
    isIdle: () => seen.isIdle,
    onFault: () => {
      seen.faults++;
    },
  });
  let isWhole: boolean | undefined;
  void warmUp.ended.then((value) => {
    isWhole = value;
  });
  const pass = async (durationMs: number): Promise<void> => {
    clock.advanceBy(durationMs);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { warmUp, clock, seen, pass, isEnded: () => isWhole !== undefined, isWhole: () => isWhole };
}

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

describe("the warm-up", () => {
  it("leaves the first seconds alone, and ends after its transfers", async () => {
    const { warmUp, clock, seen, pass, isEnded, isWhole } = aWarmUp();
    warmUp.begin();
    await pass(BEGIN_AFTER_MS - 1);
    expect(seen.calls).toBe(0);
    while (!isEnded()) await pass(PAUSE_MS);
    expect(isWhole()).toBe(true);
    const offered = sum(seen.offered.flat());
    expect(offered).toBeGreaterThanOrEqual(TRANSFERS);
    expect(seen.calls).toBe(offered);
    expect(seen.built).toBe(seen.offered.flat().length);
    expect(Math.max(...seen.offered.flat())).toBeLessThan(MANY);
    expect(clock.nextAlarmMs).toBeUndefined();
  });

  it("has both chains take turns, with few transfers while code is not compiled", async () => {
    const { warmUp, seen, pass } = aWarmUp();
    warmUp.begin();
    await pass(BEGIN_AFTER_MS);
    for (let round = 1; round < 8; round++) await pass(PAUSE_MS);
    const [one = [], other = []] = seen.offered;
    expect(one).toHaveLength(4);
    expect(other).toHaveLength(4);
    expect(sum([...one, ...other])).toBeLessThan(MANY);
  });

  it("does nothing while the node is busy, and gives up when it stays so", async () => {
    const { warmUp, clock, seen, pass, isEnded } = aWarmUp();
    seen.isIdle = false;
    warmUp.begin();
    await pass(BEGIN_AFTER_MS);
    await pass(BUSY_PAUSE_MS);
    expect(isEnded()).toBe(false);
    while (!isEnded() && clock.nowMs() <= GIVE_UP_AFTER_MS + BUSY_PAUSE_MS) await pass(BUSY_PAUSE_MS);
    expect(isEnded()).toBe(true);
    expect(seen).toMatchObject({ calls: 0, built: 0, faults: 0 });
  });

  it("ends for good when it is stopped, before its begin as well as in a round", async () => {
    const early = aWarmUp();
    early.warmUp.begin();
    early.warmUp.stop();
    await early.pass(BEGIN_AFTER_MS);
    expect(early.seen.calls).toBe(0);
    expect(early.isWhole()).toBe(false);

    const { warmUp, clock, seen, pass, isEnded } = aWarmUp();
    warmUp.begin();
    await pass(BEGIN_AFTER_MS);
    const { calls } = seen;
    clock.advanceBy(PAUSE_MS);
    warmUp.stop();
    await pass(GIVE_UP_AFTER_MS);
    expect(isEnded()).toBe(true);
    expect(seen.built).toBe(1);
    expect(seen.calls).toBeGreaterThan(calls);
    expect(clock.nextAlarmMs).toBeUndefined();
  });

  it("ends with a fault of its own, which it tells once", async () => {
    const clock = createHandClock(0);
    const faults: unknown[] = [];
    const warmUp = new WarmUp({
      clock,
      openChains: () => Promise.reject(new Error("no memory")),
      answerCalls: () => undefined,
      isIdle: () => true,
      onFault: (error) => void faults.push(error),
    });
    warmUp.begin();
    clock.advanceBy(BEGIN_AFTER_MS);
    await warmUp.ended;
    expect(faults).toEqual([new Error("no memory")]);
    expect(clock.nextAlarmMs).toBeUndefined();
  });
});
