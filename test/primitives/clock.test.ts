import { afterEach, describe, expect, it, vi } from "vitest";
import { durationClock } from "../../src/primitives/clock.ts";
import { IN_REAL_TIME } from "../realTime.ts";

afterEach(() => void vi.useRealTimers());

describe("the clock for durations", IN_REAL_TIME, () => {
  it("rings in time although somebody sets the machine's clock back meanwhile", async () => {
    const setAt = Date.now();
    const rung = new Promise<void>((resolve) => durationClock.at(durationClock.nowMs() + 20, resolve));
    vi.useFakeTimers({ toFake: ["Date"], now: setAt - 3_600_000 });
    await rung;
    expect(Date.now()).toBeLessThan(setAt);
  });
});
