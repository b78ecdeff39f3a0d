import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { remembered } from "../../src/primitives/remembered.ts";

describe("a remembered reading", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());

  it("is shared by all who ask within its time, and read again after it", async () => {
    let readings = 0;
    const read = remembered(async () => ++readings, 1000);
    expect(await Promise.all([read(), read()])).toEqual([1, 1]);
    vi.advanceTimersByTime(999);
    expect(await read()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(await read()).toBe(2);
  });

  it("is read again at once after it failed", async () => {
    let readings = 0;
    const read = remembered(async () => {
      if (++readings === 1) throw new Error("no");
      return readings;
    }, 1000);
    await expect(Promise.all([read(), read()])).rejects.toThrow("no");
    expect(await read()).toBe(2);
  });
});
