import { describe, expect, it } from "vitest";
import { SliceCosts } from "../../../src/calls/inline/sliceCosts.ts";

function someCosts() {
  let nowMs = 0;
  const costs = new SliceCosts(() => nowMs);
  return Object.assign(costs, {
    /** Milliseconds until the name is tried again. */
    pauseOf(name: string): number {
      const startMs = nowMs;
      while (!costs.mayRunInline(name)) nowMs++;
      return nowMs - startMs;
    },
  });
}

describe("the slices of calls on a thread for callers", () => {
  it("are the same for every call, however many took their whole slice: no share of the time is used up", () => {
    const costs = someCosts();
    for (let n = 0; n < 10_000; n++) {
      expect(costs.mayRunInline(`call ${n}`)).toBe(true);
      costs.aborted(`call ${n}`);
    }
  });

  it("are not given for a while to a name that did not end within one: for longer each time", () => {
    const costs = someCosts();
    const pauses = Array.from({ length: 13 }, () => {
      costs.aborted("long");
      return costs.pauseOf("long");
    });
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_000, 10_000]);
    costs.aborted("other");
    expect(costs.pauseOf("other")).toBe(5);
    for (let n = 0; n < 14; n++) costs.completed("long");
    costs.aborted("long");
    expect(costs.pauseOf("long")).toBe(5);
  });
});
