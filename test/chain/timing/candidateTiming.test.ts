import { describe, expect, it } from "vitest";
import { CandidateTiming } from "../../../src/chain/timing/candidateTiming.ts";
import { CoreContention } from "../../../src/chain/timing/coreContention.ts";
import type { Block } from "../../../src/types/block.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { aGenesisHead } from "../../builders/toyChain.ts";

function aRun() {
  const learnt: [of: "ours" | "others", transactions: number, finishMs: number][] = [];
  const clock = { nowMs: 0 };
  const times = { ranMs: 0, waitedMs: 0 };
  const timeBudget = {
    learn: (transactions: number, finishMs: number) => void learnt.push(["ours", transactions, finishMs]),
    learnFromOthers: (transactions: number, finishMs: number) =>
      void learnt.push(["others", transactions, finishMs]),
  };
  let reads = 0;
  const contention = new CoreContention(() => {
    reads++;
    return { ...times };
  });
  const timing = new CandidateTiming(() => clock.nowMs, timeBudget, contention);
  return { timing, clock, times, learnt, reads: () => reads };
}

function aBlock(number: bigint): Block {
  const { header } = aGenesisHead([]);
  return { header: { ...header, number }, transactions: [aTransaction({})], ommers: [] };
}

describe("the timing of the candidate that is decided", () => {
  it("learns from our block what it took beyond its execution by others", () => {
    const { timing, clock, learnt } = aRun();
    timing.onFilled(7n, { executionMs: 30, load: 1 });
    // Our own execution of it says nothing about the others'.
    timing.onExecuted(7n, { executionMs: 500, load: 1 });
    clock.nowMs = 100;
    timing.onCommitted(aBlock(7n));
    timing.onCommitted(aBlock(7n));
    expect(learnt).toEqual([["ours", 1, 70]]);
  });

  it("learns from another validator's block what it took beyond its execution here", () => {
    const { timing, clock, learnt } = aRun();
    timing.onValidationStarted(7n);
    timing.onExecuted(6n, { executionMs: 1_000, load: 1 });
    timing.onExecuted(7n, { executionMs: 40, load: 1 });
    clock.nowMs = 100;
    timing.onCommitted(aBlock(7n));
    expect(learnt).toEqual([["others", 1, 60]]);
  });

  it("learns what a block would have taken had this thread not waited for a core", () => {
    const { timing, clock, times, learnt } = aRun();
    for (const begin of [
      () => timing.onFilled(7n, { executionMs: 0, load: 1 }),
      () => timing.onValidationStarted(7n),
    ]) {
      begin();
      clock.nowMs += 100;
      times.ranMs += 40;
      times.waitedMs += 40;
      timing.onCommitted(aBlock(7n));
    }
    expect(learnt).toEqual([
      ["ours", 1, 50],
      ["others", 1, 50],
    ]);
  });

  it("reads the thread's times at the end only where they can tell of a wait", () => {
    const { timing, clock, learnt, reads } = aRun();
    timing.onFilled(7n, { executionMs: 0, load: 1 });
    clock.nowMs = 29;
    timing.onCommitted(aBlock(7n));
    expect([reads(), learnt]).toEqual([1, [["ours", 1, 29]]]);
    timing.onFilled(8n, { executionMs: 0, load: 1 });
    clock.nowMs += 30;
    timing.onCommitted(aBlock(8n));
    expect(reads()).toBe(3);
  });

  it("learns nothing from a block of another number, and forgets its candidate", () => {
    const { timing, learnt } = aRun();
    timing.onFilled(7n, { executionMs: 0, load: 1 });
    timing.onCommitted(aBlock(6n));
    timing.onCommitted(aBlock(7n));
    expect(learnt).toEqual([]);
  });

  it("shows a clock that was set back as a negative time, and never less than nothing otherwise", () => {
    const { timing, clock, learnt } = aRun();
    timing.onFilled(7n, { executionMs: 30, load: 1 });
    clock.nowMs = 10;
    timing.onCommitted(aBlock(7n));
    timing.onFilled(8n, { executionMs: 30, load: 1 });
    clock.nowMs = 5;
    timing.onCommitted(aBlock(8n));
    expect(learnt).toEqual([
      ["ours", 1, 0],
      ["ours", 1, -5],
    ]);
  });
});
