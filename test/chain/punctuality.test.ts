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

  it("gets over one block that took an hour to finish, because the machine slept or its clock jumped", () => {
    const clock = { nowMs: 0 };
    const punctuality = createPunctuality(() => clock.nowMs);
    const before = taken(punctuality, clock, 0.1);
    punctuality.learn(300, 3_600_000);
    punctuality.learn(300, -3_600_000);
    for (let block = 0; block < 10; block++) {
      const transactions = taken(punctuality, clock, 0.1);
      punctuality.learn(transactions, 10 + transactions * 0.02);
    }
    const after = taken(punctuality, clock, 0.1);
    expect(after).toBeGreaterThan(before * 0.8);
    expect(after).toBeLessThan(before * 1.2);
  });
});
