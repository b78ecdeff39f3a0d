import { describe, expect, it } from "vitest";
import { createPunctuality } from "../../src/chain/punctuality.ts";
import { aTransaction } from "../builders/aTransaction.ts";

const transaction = aTransaction();
const endless = { next: () => transaction, skipSender: () => undefined };

/** Transactions that go into a block of one second when each takes `executionMs` to execute. */
function taken(
  punctuality: ReturnType<typeof createPunctuality>,
  clock: { nowMs: number },
  executionMs: number,
): number {
  const source = punctuality.inTime(endless, { startMs: clock.nowMs, periodMs: 1000 });
  let count = 0;
  for (; source.next() !== undefined; count++) clock.nowMs += executionMs;
  return count;
}

describe("punctuality", () => {
  it("leaves as much time as blocks before have needed to be finished", () => {
    const clock = { nowMs: 0 };
    const punctuality = createPunctuality(() => clock.nowMs);
    const before = taken(punctuality, clock, 0.1);
    for (let block = 0; block < 40; block++) punctuality.learn(1000, 200);
    const after = taken(punctuality, clock, 0.1);
    expect(before * (0.1 + 0.02)).toBeGreaterThan(750);
    expect(after * (0.1 + 0.2)).toBeGreaterThan(750);
    expect(after * (0.1 + 0.2)).toBeLessThan(850);
  });

  it("learns nothing from nearly empty blocks, whose fixed costs would look like the price of a transaction", () => {
    const clock = { nowMs: 0 };
    const punctuality = createPunctuality(() => clock.nowMs);
    const before = taken(punctuality, clock, 1);
    for (let block = 0; block < 40; block++) punctuality.learn(1, 30);
    expect(taken(punctuality, clock, 1)).toBe(before);
  });
});
