import { describe, expect, it } from "vitest";
import { createPunctuality } from "../../src/chain/punctuality.ts";
import { aTransaction } from "../builders/aTransaction.ts";

const transaction = aTransaction();
const endless = { next: () => transaction, skipSender: () => undefined };

interface Costs {
  readonly executionMs: number;
  readonly fixedMs: number;
  readonly eachMs: number;
}

/** One who proposes blocks of a second from endless transactions. */
function aProposer() {
  const clock = { nowMs: 0 };
  const punctuality = createPunctuality(() => clock.nowMs);
  /** Fills a block; says how many went in. */
  function fill(executionMs: number): number {
    const source = punctuality.inTime(endless, { startMs: clock.nowMs, periodMs: 1000 });
    let count = 0;
    for (; source.next() !== undefined; count++) clock.nowMs += executionMs;
    return count;
  }
  /** So many blocks that cost that much, one after another; says how long the last one took in all. */
  function live(blocks: number, { executionMs, fixedMs, eachMs }: Costs): number {
    let tookMs = 0;
    for (let block = 0; block < blocks; block++) {
      const transactions = fill(executionMs);
      const finishMs = fixedMs + transactions * eachMs;
      punctuality.learn(transactions, finishMs);
      tookMs = transactions * executionMs + finishMs;
    }
    return tookMs;
  }
  return { clock, punctuality, fill, live };
}

const LIGHT: Costs = { executionMs: 0.1, fixedMs: 10, eachMs: 0.02 };

describe("punctuality", () => {
  it.each<Costs>([
    LIGHT,
    { executionMs: 0.1, fixedMs: 30, eachMs: 0.4 },
    { executionMs: 0.3, fixedMs: 300, eachMs: 0.1 },
    { executionMs: 0.02, fixedMs: 0, eachMs: 0.01 },
    { executionMs: 2, fixedMs: 100, eachMs: 1 },
  ])("comes to fill blocks so that they are done in four fifths of the period: %j", (costs) => {
    const { live } = aProposer();
    expect(live(40, costs)).toBeGreaterThan(740);
    expect(live(1, costs)).toBeLessThan(860);
  });

  it("is not late twice when finishing becomes four times as slow, and makes use of it when it is fast again", () => {
    const { live } = aProposer();
    live(40, { ...LIGHT, eachMs: 0.1 });
    const slow = { ...LIGHT, eachMs: 0.4 };
    live(2, slow);
    expect(live(1, slow)).toBeLessThan(1000);
    live(10, { ...LIGHT, eachMs: 0.1 });
    expect(live(1, { ...LIGHT, eachMs: 0.1 })).toBeGreaterThan(740);
  });

  it("is ready the earlier the less it knows how long finishing takes", () => {
    const [even, uneven] = [aProposer(), aProposer()];
    even.live(40, { ...LIGHT, eachMs: 0.2 });
    for (let pair = 0; pair < 20; pair++)
      for (const eachMs of [0.1, 0.3]) uneven.live(1, { ...LIGHT, eachMs });
    expect(uneven.live(1, { ...LIGHT, eachMs: 0.3 })).toBeLessThan(900);
    expect(uneven.fill(0.1)).toBeLessThan(even.fill(0.1) * 0.8);
  });

  it("becomes full within a few blocks, each at most a quarter of a period later than the one before", () => {
    const { clock, punctuality, live } = aProposer();
    const spacings: number[] = [];
    let [slotMs, lastMs] = [clock.nowMs, clock.nowMs];
    let tookMs = 0;
    for (let block = 0; block < 12; block++) {
      clock.nowMs = Math.max(slotMs, lastMs);
      const startMs = clock.nowMs;
      // Four empty blocks, then a flood.
      tookMs = live(block < 4 ? 0 : 1, LIGHT);
      clock.nowMs = startMs + tookMs;
      punctuality.done();
      spacings.push(clock.nowMs - lastMs);
      lastMs = clock.nowMs;
      slotMs += 1000;
    }
    expect(Math.max(...spacings)).toBeLessThan(1270);
    expect(tookMs).toBeGreaterThan(740);
  });

  it("is full again within a few blocks after one of few transactions took very long", () => {
    const { punctuality, live } = aProposer();
    live(40, LIGHT);
    punctuality.learn(220, 1700);
    live(6, LIGHT);
    expect(live(1, LIGHT)).toBeGreaterThan(600);
  });

  it("holds what empty blocks take against none of the transactions of a full one", () => {
    const { punctuality, fill } = aProposer();
    const before = fill(1);
    for (let block = 0; block < 40; block++) punctuality.learn(1, 30);
    expect(fill(1)).toBeGreaterThan(before * 0.95);
  });

  it("knows from the blocks of others what its own will take, and that of those it has not seen all", () => {
    const [one, other] = [aProposer(), aProposer()];
    for (let block = 0; block < 40; block++) one.punctuality.learn(1000, 500);
    for (let block = 0; block < 40; block++) other.punctuality.learnOfOthers(1000, 400);
    expect(other.fill(0.1)).toBe(one.fill(0.1));
  });

  it("puts transactions into blocks, and gets over it, when even empty ones take longer than the period", () => {
    const { punctuality, fill, live } = aProposer();
    for (let block = 0; block < 20; block++) punctuality.learn(0, 3000);
    for (let block = 0; block < 20; block++) punctuality.learn(1000, 9000);
    expect(fill(1000)).toBeGreaterThan(0);
    live(40, LIGHT);
    expect(live(1, LIGHT)).toBeGreaterThan(740);
  });

  it("gets over one block that took an hour to finish, because the machine slept or its clock jumped", () => {
    const { punctuality, fill, live } = aProposer();
    live(40, LIGHT);
    const before = fill(0.1);
    punctuality.learn(300, 3_600_000);
    punctuality.learn(300, -3_600_000);
    expect(fill(0.1)).toBe(before);
  });
});
