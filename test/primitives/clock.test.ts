import { afterEach, describe, expect, it, vi } from "vitest";
import { durationClock } from "../../src/primitives/clock.ts";

afterEach(() => void vi.useRealTimers());

describe("the clock for durations", () => {
  it("fires in time although the system clock is set back meanwhile", async () => {
    const setAt = Date.now();
    const fired = new Promise<void>((resolve) => durationClock.at(durationClock.nowMs() + 20, resolve));
    vi.useFakeTimers({ toFake: ["Date"], now: setAt - 3_600_000 });
    await fired;
    expect(Date.now()).toBeLessThan(setAt);
  });
});
