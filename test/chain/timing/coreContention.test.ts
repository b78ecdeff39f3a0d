import { describe, expect, it } from "vitest";
import { CoreContention } from "../../../src/chain/timing/coreContention.ts";

function slowdownOf(ranMs: number, waitedMs: number): number | undefined {
  let times = { ranMs: 1_000, waitedMs: 500 };
  const contention = new CoreContention(() => times);
  const mark = contention.mark();
  times = { ranMs: 1_000 + ranMs, waitedMs: 500 + waitedMs };
  return contention.slowdownSince(mark);
}

describe("the contention for cores", () => {
  it.each([
    ["never waited", 100, 0, 1],
    ["waited half as long as it ran", 100, 50, 1.5],
    ["waited as long as it ran", 30, 30, 2],
    ["waited a hundred times as long, up to a bound", 10, 1_000, 4],
    ["hardly ran or waited, so that ticks would decide", 9, 20, undefined],
    ["did not run", 0, 500, 4],
    ["has times that went backwards", 100, -50, 1],
  ])("is known of a thread that %s", (_, ranMs, waitedMs, slowdown) => {
    expect(slowdownOf(ranMs, waitedMs)).toBe(slowdown);
  });

  it("is unknown where the system does not tell", () => {
    for (const contention of [new CoreContention(), new CoreContention(() => undefined)])
      expect(contention.slowdownSince(contention.mark())).toBeUndefined();
    const told = new CoreContention(() => ({ ranMs: 9, waitedMs: 99 }));
    expect(told.slowdownSince(undefined)).toBeUndefined();
  });
});
