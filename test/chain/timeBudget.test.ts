import { describe, expect, it } from "vitest";
import { createBlockTimeBudget } from "../../src/chain/timeBudget.ts";
import { aTransaction } from "../builders/aTransaction.ts";

const transaction = aTransaction();
const endless = { next: () => transaction, skipSender: () => undefined };

interface Costs {
  readonly executionMs: number;
  readonly fixedMs: number;
  readonly eachMs: number;
}

/** One who proposes blocks of a second from endless transactions. */
function aProposer({ isSharedOut = false } = {}) {
  const clock = { nowMs: 0 };
  const timeBudget = createBlockTimeBudget({ nowMs: () => clock.nowMs });
  /** Fills a block; says how many went in. */
  function fill(executionMs: number): number {
    const source = timeBudget.inTime(endless, {
      startMs: clock.nowMs,
      periodMs: 1000,
      isSharedOut,
    });
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
      timeBudget.learn(transactions, finishMs);
      tookMs = transactions * executionMs + finishMs;
    }
    return tookMs;
  }
  return { clock, punctuality: timeBudget, fill, live };
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

  it("fills the first block of a flood as the later ones when it knows what a transaction costs", () => {
    const { punctuality: timeBudget, live } = aProposer();
    timeBudget.expect({ fixedMs: 10, eachMs: 0.02 });
    for (let block = 0; block < 30; block++) timeBudget.learn(0, 10);
    const first = live(1, LIGHT);
    expect(first).toBeGreaterThan(740);
    expect(first).toBeLessThan(860);
    expect(Math.abs(live(1, LIGHT) - first)).toBeLessThan(20);
  });

  it("is at most half a period later than the block before where others share the work", () => {
    for (const isSharedOut of [true, false]) {
      const { clock, punctuality: timeBudget, fill } = aProposer({ isSharedOut });
      timeBudget.expect({ fixedMs: 0, eachMs: 0.001 });
      clock.nowMs = 5_010;
      timeBudget.done();
      clock.nowMs = 6_000;
      const executionMs = fill(1) * (isSharedOut ? 2 : 1);
      expect(executionMs).toBeGreaterThan(isSharedOut ? 490 : 780);
      expect(executionMs).toBeLessThan(isSharedOut ? 520 : 810);
    }
  });

  it("leaves others the time to execute what it executed, from the first block on", () => {
    const { fill, punctuality: timeBudget } = aProposer({ isSharedOut: true });
    timeBudget.expect({ fixedMs: 20, eachMs: 0.01 });
    const executionMs = fill(10) * 10;
    expect(executionMs).toBeGreaterThan(370);
    expect(executionMs).toBeLessThan(400);
  });

  it("fills half a block where others share the work and nothing is known, and a whole one once a transaction was measured", () => {
    const [lone, many] = [aProposer(), aProposer({ isSharedOut: true })];
    expect(many.fill(0.1) * (0.1 + 0.1 + 0.25)).toBeLessThan(400);
    for (const { punctuality: timeBudget } of [lone, many]) {
      timeBudget.guess(0.02);
      expect(timeBudget.timing).toBeUndefined();
    }
    expect(lone.live(1, LIGHT)).toBeGreaterThan(740);
    expect(many.fill(0.1) * (0.1 + 0.1 + 0.02)).toBeGreaterThan(700);
    many.punctuality.learn(1_000, 30);
    many.punctuality.guess(1);
    expect(many.fill(0.1) * (0.1 + 0.1 + 0.02)).toBeGreaterThan(700);
  });

  it("does not hold what makes every block late against the transactions of a few", () => {
    const { punctuality: timeBudget, fill } = aProposer();
    timeBudget.expect({ fixedMs: 40, eachMs: 0.1 });
    for (let block = 0; block < 10; block++) timeBudget.learn(200, 400 + 200 * 0.1);
    const finishedMs = 400 + fill(0.1) * (0.1 + 0.1);
    expect(finishedMs).toBeGreaterThan(700);
    expect(finishedMs).toBeLessThan(860);
  });

  it("leaves others what the execution used of the processor, where other processes had it meanwhile", () => {
    const clock = { nowMs: 0, cpuMs: 0 };
    const timeBudget = createBlockTimeBudget({ nowMs: () => clock.nowMs, cpuMs: () => clock.cpuMs });
    timeBudget.expect({ fixedMs: 0, eachMs: 0.001 });
    const source = timeBudget.inTime(endless, { startMs: 0, periodMs: 1000, isSharedOut: true });
    for (; source.next() !== undefined; clock.nowMs += 10) clock.cpuMs += 2.5;
    expect(clock.nowMs).toBeGreaterThan(620);
    expect(clock.nowMs).toBeLessThan(660);
    expect(source.executionMs).toBeGreaterThan(155);
    expect(source.executionMs).toBeLessThan(165);
  });

  it("does not count what was stopped and left out as work of the others", () => {
    const { clock, punctuality: timeBudget } = aProposer({ isSharedOut: true });
    timeBudget.expect({ fixedMs: 0, eachMs: 0.001 });
    const source = timeBudget.inTime(endless, { startMs: 0, periodMs: 1000, isSharedOut: true });
    source.next();
    clock.nowMs += 300;
    source.skipSender();
    while (source.next() !== undefined) clock.nowMs += 1;
    expect(source.executionMs).toBeGreaterThan(230);
    expect(source.executionMs).toBeLessThan(260);
  });

  it("hands on what it has learnt, and believes nothing absurd", () => {
    const { punctuality: timeBudget, live } = aProposer();
    live(40, LIGHT);
    const { timing } = timeBudget;
    expect(timing?.eachMs).toBeGreaterThan(0.015);
    expect(timing?.eachMs).toBeLessThan(0.035);
    for (const eachMs of [-1, 0, Number.NaN, Number.POSITIVE_INFINITY, 1e9])
      timeBudget.expect({ fixedMs: 1, eachMs });
    timeBudget.expect({ fixedMs: Number.NaN, eachMs: 1 });
    expect(timeBudget.timing).toEqual(timing);
  });

  it("is full again within a few blocks after one of few transactions took very long", () => {
    const { punctuality: timeBudget, live } = aProposer();
    live(40, LIGHT);
    timeBudget.learn(220, 1700);
    live(6, LIGHT);
    expect(live(1, LIGHT)).toBeGreaterThan(600);
  });

  it("holds what empty blocks take against none of the transactions of a full one", () => {
    const { punctuality: timeBudget, fill } = aProposer();
    const before = fill(1);
    for (let block = 0; block < 40; block++) timeBudget.learn(1, 30);
    expect(fill(1)).toBeGreaterThan(before * 0.95);
  });

  it("knows from the blocks of others what its own will take, and that of those it has not seen all", () => {
    const [one, other] = [aProposer(), aProposer()];
    for (let block = 0; block < 40; block++) one.punctuality.learn(1000, 500);
    for (let block = 0; block < 40; block++) other.punctuality.learnOfOthers(1000, 400);
    expect(other.fill(0.1)).toBe(one.fill(0.1));
  });

  it("puts transactions into blocks, and gets over it, when even empty ones take longer than the period", () => {
    const { punctuality: timeBudget, fill, live } = aProposer();
    for (let block = 0; block < 20; block++) timeBudget.learn(0, 3000);
    for (let block = 0; block < 20; block++) timeBudget.learn(1000, 9000);
    expect(fill(1000)).toBeGreaterThan(0);
    live(40, LIGHT);
    expect(live(1, LIGHT)).toBeGreaterThan(740);
  });

  it("gets over one block that took an hour to finish, because the machine slept or its clock jumped", () => {
    const { punctuality: timeBudget, fill, live } = aProposer();
    live(40, LIGHT);
    const before = fill(0.1);
    timeBudget.learn(300, 3_600_000);
    timeBudget.learn(300, -3_600_000);
    expect(fill(0.1)).toBe(before);
  });
});
