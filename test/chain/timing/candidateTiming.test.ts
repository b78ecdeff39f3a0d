import { describe, expect, it } from "vitest";
import { createCandidateTiming } from "../../../src/chain/timing/candidateTiming.ts";
import type { Block } from "../../../src/types/block.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { aGenesisHead } from "../../builders/toyChain.ts";

function aRun() {
  const learnt: [of: "ours" | "others", transactions: number, finishMs: number][] = [];
  const clock = { nowMs: 0 };
  const timing = createCandidateTiming(() => clock.nowMs, {
    learn: (transactions, finishMs) => void learnt.push(["ours", transactions, finishMs]),
    learnFromOthers: (transactions, finishMs) => void learnt.push(["others", transactions, finishMs]),
  });
  return { timing, clock, learnt };
}

function aBlock(number: bigint): Block {
  const { header } = aGenesisHead([]);
  return { header: { ...header, number }, transactions: [aTransaction({})], ommers: [] };
}

describe("the timing of the candidate that is decided", () => {
  it("learns from our block what it took beyond its execution by others", () => {
    const { timing, clock, learnt } = aRun();
    timing.onFilled(7n, 30);
    // Our own execution of it says nothing about the others'.
    timing.onExecuted(7n, 500);
    clock.nowMs = 100;
    timing.onCommitted(aBlock(7n));
    timing.onCommitted(aBlock(7n));
    expect(learnt).toEqual([["ours", 1, 70]]);
  });

  it("learns from another validator's block what it took beyond its execution here", () => {
    const { timing, clock, learnt } = aRun();
    timing.onValidationStarted(7n);
    timing.onExecuted(6n, 1_000);
    timing.onExecuted(7n, 40);
    clock.nowMs = 100;
    timing.onCommitted(aBlock(7n));
    expect(learnt).toEqual([["others", 1, 60]]);
  });

  it("learns nothing from a block of another number, and forgets its candidate", () => {
    const { timing, learnt } = aRun();
    timing.onFilled(7n, 0);
    timing.onCommitted(aBlock(6n));
    timing.onCommitted(aBlock(7n));
    expect(learnt).toEqual([]);
  });

  it("shows a clock that was set back as a negative time, and never less than nothing otherwise", () => {
    const { timing, clock, learnt } = aRun();
    timing.onFilled(7n, 30);
    clock.nowMs = 10;
    timing.onCommitted(aBlock(7n));
    timing.onFilled(8n, 30);
    clock.nowMs = 5;
    timing.onCommitted(aBlock(8n));
    expect(learnt).toEqual([
      ["ours", 1, 0],
      ["ours", 1, -5],
    ]);
  });
});
