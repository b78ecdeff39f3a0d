import { describe, expect, it } from "vitest";
import { CoreContention } from "../../../src/chain/timing/coreContention.ts";
import { BlockTimeBudget } from "../../../src/chain/timing/timeBudget.ts";
import { aTransaction } from "../../builders/aTransaction.ts";

const transaction = aTransaction();
const endless = { next: () => transaction, skipSender: () => undefined };

interface Costs {
  readonly executionMs: number;
  readonly fixedMs: number;
  readonly eachMs: number;
}

/** A proposer with a block period of one second and unlimited transactions. */
function aProposer({ hasOtherValidators = false } = {}) {
  const clock = { nowMs: 0 };
  const times = { ranMs: 0, waitedMs: 0 };
  const contention = new CoreContention(() => ({ ...times }));
  const timeBudget = new BlockTimeBudget({ nowMs: () => clock.nowMs, contention });
  /** Fills a block and returns its number of transactions. */
  function fill(executionMs: number): number {
    const source = timeBudget.limit(endless, {
      startMs: clock.nowMs,
      periodMs: 1000,
      hasOtherValidators,
    });
    let count = 0;
    for (; source.next() !== undefined; count++) clock.nowMs += executionMs;
    return count;
  }
  /** Builds blocks with these costs and returns the total time of the last one. */
  function run(blocks: number, { executionMs, fixedMs, eachMs }: Costs): number {
    let tookMs = 0;
    for (let block = 0; block < blocks; block++) {
      const transactions = fill(executionMs);
      const finishMs = fixedMs + transactions * eachMs;
      timeBudget.learn(transactions, finishMs);
      tookMs = transactions * executionMs + finishMs;
    }
    return tookMs;
  }
  return { clock, times, timeBudget, fill, run };
}

/** A proposer that has just committed, and how much it fills while cores are free. `occupyCores` makes its work take three times as long. */
function aProposerOnFreeCores() {
  const proposer = aProposer();
  const { clock, times, timeBudget } = proposer;
  timeBudget.restore({ fixedMs: 0, eachMs: 0.1 });
  timeBudget.onCommitted();
  return {
    ...proposer,
    onFreeCores: proposer.fill(0),
    occupyCores(): void {
      times.ranMs += 100;
      times.waitedMs += 200;
    },
    commitAfterOneSecond(): void {
      clock.nowMs += 1_000;
      timeBudget.onCommitted();
    },
  };
}

const LIGHT: Costs = { executionMs: 0.1, fixedMs: 10, eachMs: 0.02 };

describe("the block time budget", () => {
  it.each<Costs>([
    LIGHT,
    { executionMs: 0.1, fixedMs: 30, eachMs: 0.4 },
    { executionMs: 0.3, fixedMs: 300, eachMs: 0.1 },
    { executionMs: 0.02, fixedMs: 0, eachMs: 0.01 },
    { executionMs: 2, fixedMs: 100, eachMs: 1 },
  ])("converges to blocks that take three quarters of the period: %j", (costs) => {
    const { run } = aProposer();
    expect(run(40, costs)).toBeGreaterThan(690);
    expect(run(1, costs)).toBeLessThan(810);
  });

  it("is late only once when finishing becomes four times as slow, and fills blocks again when it is fast again", () => {
    const { run } = aProposer();
    run(40, { ...LIGHT, eachMs: 0.1 });
    const slow = { ...LIGHT, eachMs: 0.4 };
    run(2, slow);
    expect(run(1, slow)).toBeLessThan(1000);
    run(10, { ...LIGHT, eachMs: 0.1 });
    expect(run(1, { ...LIGHT, eachMs: 0.1 })).toBeGreaterThan(690);
  });

  it("fills less where the time to finish varies more", () => {
    const [even, uneven] = [aProposer(), aProposer()];
    even.run(40, { ...LIGHT, eachMs: 0.2 });
    for (let pair = 0; pair < 20; pair++)
      for (const eachMs of [0.1, 0.3]) uneven.run(1, { ...LIGHT, eachMs });
    expect(uneven.run(1, { ...LIGHT, eachMs: 0.3 })).toBeLessThan(900);
    expect(uneven.fill(0.1)).toBeLessThan(even.fill(0.1) * 0.8);
  });

  it("counts a transaction with large effects as several, and tells for how many more there is time", () => {
    const { timeBudget } = aProposer();
    timeBudget.restore({ fixedMs: 50, eachMs: 0.5 });
    const filled = (bytes: number, changes = 0): number => {
      const source = timeBudget.limit(endless, { startMs: 0, periodMs: 1000, hasOtherValidators: false });
      let transactions = 0;
      for (; source.next() !== undefined; transactions++) source.added?.({ bytes, changes });
      return transactions;
    };
    // 700 ms for 0.5 ms each; 2,048 bytes take as long as a transaction.
    expect(filled(0)).toBe(1400);
    expect(filled(2048)).toBe(1400);
    expect(filled(20_480)).toBe(140);
    expect(filled(16 * 1024 * 1024)).toBe(1);
    // A change takes as long as a transaction, save for those of a usual one.
    expect(filled(0, 8)).toBe(1400);
    expect(filled(0, 18)).toBe(140);
    const source = timeBudget.limit(endless, { startMs: 0, periodMs: 1000, hasOtherValidators: false });
    source.next();
    source.added?.({ bytes: 200 * 2048, changes: 208 });
    expect(source.leftLargeLoad?.()).toBe(1000);
  });

  it("fills the first full block after empty ones as the later ones when the cost of a transaction is known", () => {
    const { timeBudget, run } = aProposer();
    timeBudget.restore({ fixedMs: 10, eachMs: 0.02 });
    for (let block = 0; block < 30; block++) timeBudget.learn(0, 10);
    const first = run(1, LIGHT);
    expect(first).toBeGreaterThan(690);
    expect(first).toBeLessThan(810);
    expect(Math.abs(run(1, LIGHT) - first)).toBeLessThan(20);
  });

  it("commits at most 1.15 periods after the previous block where there are other validators", () => {
    for (const hasOtherValidators of [true, false]) {
      const { clock, timeBudget, fill } = aProposer({ hasOtherValidators });
      timeBudget.restore({ fixedMs: 0, eachMs: 0.001 });
      clock.nowMs = 5_110;
      timeBudget.onCommitted();
      clock.nowMs = 6_000;
      const executionMs = fill(1) * (hasOtherValidators ? 2 : 1);
      expect(executionMs).toBeGreaterThan(hasOtherValidators ? 245 : 730);
      expect(executionMs).toBeLessThan(hasOtherValidators ? 265 : 760);
    }
  });

  it("lets large effects of a lone validator's block take until 1.2 periods after the previous block, and small ones longer", () => {
    const { clock, timeBudget } = aProposer();
    timeBudget.restore({ fixedMs: 0, eachMs: 1 });
    const leftAfter = (lastCommitMs: number): number | undefined => {
      clock.nowMs = lastCommitMs;
      timeBudget.onCommitted();
      clock.nowMs = 6_000;
      const source = timeBudget.limit(endless, { startMs: 6_000, periodMs: 1000, hasOtherValidators: false });
      const left = source.leftLargeLoad?.();
      let taken = 0;
      while (source.next() !== undefined) taken++;
      expect(taken).toBe(750);
      return left;
    };
    expect(leftAfter(5_100)).toBe(300);
    expect(leftAfter(5_400)).toBe(600);
    expect(leftAfter(5_900)).toBe(750);
  });

  it("leaves other validators time to execute the block, from the first block on", () => {
    const { fill, timeBudget } = aProposer({ hasOtherValidators: true });
    timeBudget.restore({ fixedMs: 20, eachMs: 0.01 });
    const executionMs = fill(10) * 10;
    expect(executionMs).toBeGreaterThan(320);
    expect(executionMs).toBeLessThan(350);
  });

  it("fills half a block with other validators and unknown costs, and a whole one once costs are measured", () => {
    const [lone, many] = [aProposer(), aProposer({ hasOtherValidators: true })];
    expect(many.fill(0.1) * (0.1 + 0.1 + 0.25)).toBeLessThan(400);
    for (const { timeBudget } of [lone, many]) {
      timeBudget.setMeasured(0.02);
      expect(timeBudget.timing).toBeUndefined();
    }
    expect(lone.run(1, LIGHT)).toBeGreaterThan(690);
    expect(many.fill(0.1) * (0.1 + 0.1 + 0.02)).toBeGreaterThan(620);
    many.timeBudget.learn(1_000, 30);
    many.timeBudget.setMeasured(1);
    expect(many.fill(0.1) * (0.1 + 0.1 + 0.02)).toBeGreaterThan(620);
  });

  it("attributes a delay of every block to the fixed part, not to the transactions of small blocks", () => {
    const { timeBudget, fill } = aProposer();
    timeBudget.restore({ fixedMs: 40, eachMs: 0.1 });
    for (let block = 0; block < 10; block++) timeBudget.learn(200, 400 + 200 * 0.1);
    const finishedMs = 400 + fill(0.1) * (0.1 + 0.1);
    expect(finishedMs).toBeGreaterThan(700);
    expect(finishedMs).toBeLessThan(810);
  });

  it("leaves other validators the CPU time of the execution, not the time used by other processes", () => {
    const clock = { nowMs: 0, cpuMs: 0 };
    const timeBudget = new BlockTimeBudget({
      nowMs: () => clock.nowMs,
      cpuMs: () => clock.cpuMs,
      contention: new CoreContention(),
    });
    timeBudget.restore({ fixedMs: 0, eachMs: 0.001 });
    const source = timeBudget.limit(endless, { startMs: 0, periodMs: 1000, hasOtherValidators: true });
    for (; source.next() !== undefined; clock.nowMs += 10) clock.cpuMs += 2.5;
    expect(clock.nowMs).toBeGreaterThan(540);
    expect(clock.nowMs).toBeLessThan(580);
    expect(source.executionMs).toBeGreaterThan(135);
    expect(source.executionMs).toBeLessThan(145);
  });

  it("does not count the time of skipped transactions as work of other validators", () => {
    const { clock, timeBudget } = aProposer({ hasOtherValidators: true });
    timeBudget.restore({ fixedMs: 0, eachMs: 0.001 });
    const source = timeBudget.limit(endless, { startMs: 0, periodMs: 1000, hasOtherValidators: true });
    source.next();
    clock.nowMs += 300;
    source.skipSender();
    while (source.next() !== undefined) clock.nowMs += 1;
    expect(source.executionMs).toBeGreaterThan(180);
    expect(source.executionMs).toBeLessThan(210);
  });

  it("fills a third when this thread has waited for a core twice as long as it ran since the last commit", () => {
    const { times, fill, onFreeCores, occupyCores, commitAfterOneSecond } = aProposerOnFreeCores();
    occupyCores();
    expect(fill(0) / onFreeCores).toBeCloseTo(1 / 3, 2);
    commitAfterOneSecond();
    // Right after a commit, as after a late block, what is known is that of the block before.
    expect(fill(0) / onFreeCores).toBeCloseTo(1 / 3, 2);
    times.ranMs += 100;
    expect(fill(0)).toBe(onFreeCores);
  });

  it("expects of a slowdown as much as lasted while earlier blocks were finished, and all of it once that lasts", () => {
    const { timeBudget, fill, onFreeCores, occupyCores, commitAfterOneSecond } = aProposerOnFreeCores();
    const makeBlock = (slowdown: number): number => {
      occupyCores();
      const filled = fill(0);
      timeBudget.learn(filled, filled * 0.1, slowdown);
      commitAfterOneSecond();
      return filled / onFreeCores;
    };
    expect(makeBlock(1.5)).toBeCloseTo(1 / 3, 1);
    for (let block = 0; block < 20; block++) makeBlock(1.5);
    expect(makeBlock(1.5)).toBeCloseTo(1 / 1.5, 1);
    for (let block = 0; block < 20; block++) makeBlock(3);
    expect(makeBlock(3)).toBeCloseTo(1 / 3, 1);
  });

  it("expects all of a slowdown where there are other validators", () => {
    const { times, timeBudget, fill } = aProposer({ hasOtherValidators: true });
    timeBudget.restore({ fixedMs: 0, eachMs: 0.1 });
    const onFreeCores = fill(0);
    for (let block = 0; block < 20; block++) {
      timeBudget.onCommitted();
      times.ranMs += 100;
      times.waitedMs += 200;
      expect(fill(0) / onFreeCores).toBeCloseTo(1 / 3, 1);
      timeBudget.learn(1_000, 100, 1.5);
    }
  });

  it("fills as on free cores once they are free, also when this thread has done little between a commit and the next filling", () => {
    const { times, fill, onFreeCores, occupyCores, commitAfterOneSecond } = aProposerOnFreeCores();
    occupyCores();
    fill(0);
    for (const ranMs of [500, 10, 10, 10, 10, 10, 10]) {
      times.ranMs += ranMs;
      commitAfterOneSecond();
      times.ranMs += 5;
    }
    expect(fill(0) / onFreeCores).toBeCloseTo(1, 1);
    times.waitedMs += 500;
    times.ranMs += 500;
    commitAfterOneSecond();
    expect(fill(0) / onFreeCores).toBeCloseTo(0.5, 1);
    times.ranMs += 500;
    commitAfterOneSecond();
    expect(fill(0)).toBe(onFreeCores);
  });

  it("expects the fixed part of finishing to take longer on busy cores, too", () => {
    const { times, timeBudget, fill } = aProposer();
    timeBudget.restore({ fixedMs: 150, eachMs: 0.001 });
    times.ranMs += 100;
    times.waitedMs += 100;
    expect(fill(1)).toBeGreaterThan(440);
    expect(fill(1)).toBeLessThan(460);
  });

  it("reports what it has learnt, and ignores implausible timings", () => {
    const { timeBudget, run } = aProposer();
    run(40, LIGHT);
    const { timing } = timeBudget;
    expect(timing?.eachMs).toBeGreaterThan(0.015);
    expect(timing?.eachMs).toBeLessThan(0.035);
    for (const eachMs of [-1, 0, Number.NaN, Number.POSITIVE_INFINITY, 1e9])
      timeBudget.restore({ fixedMs: 1, eachMs });
    timeBudget.restore({ fixedMs: Number.NaN, eachMs: 1 });
    expect(timeBudget.timing).toEqual(timing);
  });

  it("fills blocks again a few blocks after a small block that took very long", () => {
    const { timeBudget, run } = aProposer();
    run(40, LIGHT);
    timeBudget.learn(220, 1700);
    run(6, LIGHT);
    expect(run(1, LIGHT)).toBeGreaterThan(600);
  });

  it("does not attribute the time of empty blocks to the transactions of a full one", () => {
    const { timeBudget, fill } = aProposer();
    const before = fill(1);
    for (let block = 0; block < 40; block++) timeBudget.learn(1, 30);
    expect(fill(1)).toBeGreaterThan(before * 0.95);
  });

  it("learns from the blocks of others, of which it has not seen the whole time", () => {
    const [one, other] = [aProposer(), aProposer()];
    for (let block = 0; block < 40; block++) one.timeBudget.learn(1000, 500);
    for (let block = 0; block < 40; block++) other.timeBudget.learnFromOthers(1000, 400);
    expect(other.fill(0.1)).toBe(one.fill(0.1));
  });

  it("learns from its own blocks alone while they are large, because those of others take less time", () => {
    const { clock, timeBudget, fill } = aProposer({ hasOtherValidators: true });
    for (let turn = 0; turn < 40; turn++) timeBudget.learn(1000, 400);
    const ofOwn = fill(0.1);
    for (let block = 0; block < 120; block++) timeBudget.learnFromOthers(1000, 40);
    expect(fill(0.1)).toBe(ofOwn);
    clock.nowMs += 61_000;
    for (let block = 0; block < 120; block++) timeBudget.learnFromOthers(1000, 40);
    expect(fill(0.1)).toBeGreaterThan(ofOwn * 1.5);
  });

  it("still includes transactions, and recovers, when even empty blocks take longer than the period", () => {
    const { timeBudget, fill, run } = aProposer();
    for (let block = 0; block < 20; block++) timeBudget.learn(0, 3000);
    for (let block = 0; block < 20; block++) timeBudget.learn(1000, 9000);
    expect(fill(1000)).toBeGreaterThan(0);
    run(40, LIGHT);
    expect(run(1, LIGHT)).toBeGreaterThan(690);
  });

  it("ignores a block that took an hour to finish, because the machine slept or its clock jumped", () => {
    const { timeBudget, fill, run } = aProposer();
    run(40, LIGHT);
    const before = fill(0.1);
    timeBudget.learn(300, 3_600_000);
    timeBudget.learn(300, -3_600_000);
    expect(fill(0.1)).toBe(before);
  });
});
