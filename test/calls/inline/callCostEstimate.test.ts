import { describe, expect, it } from "vitest";
import { type CallCostEstimate, createCallCostEstimate } from "../../../src/calls/inline/callCostEstimate.ts";

function anEstimate(): CallCostEstimate & { wait(ms: number): void } {
  let nowMs = 0;
  return {
    ...createCallCostEstimate(() => nowMs),
    wait: (ms) => {
      nowMs += ms;
    },
  };
}

describe("the call-cost estimate", () => {
  it("pauses a name for longer after each aborted call", () => {
    const estimate = anEstimate();
    const pauses: number[] = [];
    for (let n = 0; n < 6; n++) {
      expect(estimate.mayRunInline("heavy")).toBe(true);
      estimate.aborted("heavy", 1);
      let pausedMs = 0;
      for (; !estimate.mayRunInline("heavy"); pausedMs++) estimate.wait(1);
      pauses.push(pausedMs);
    }
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160]);
  });

  it("keeps running a name inline whose calls mostly complete, although one is delayed from time to time", () => {
    const estimate = anEstimate();
    for (let n = 1; n <= 1000; n++) {
      estimate.wait(1);
      expect(estimate.mayRunInline("light")).toBe(true);
      if (n % 100 === 0) estimate.aborted("light", 50);
      else estimate.completed("light", 0.1);
    }
  });

  it("keeps the record of a name in use, however many others are made up", () => {
    const estimate = anEstimate();
    for (let n = 0; n < 100; n++) estimate.completed("light", 1);
    for (let n = 0; n < 20_000; n++) {
      estimate.aborted(`invented ${n}`, 1);
      if (n % 1000 === 0) estimate.completed("light", 0.1);
    }
    expect(estimate.isProven("light")).toBe(true);
  });

  it("retries a name soon that was aborted while its code was cold", () => {
    const estimate = anEstimate();
    for (let n = 0; n < 8; n++) estimate.aborted("cold", 1);
    estimate.wait(10_000);
    for (let n = 0; n < 20; n++) estimate.completed("cold", 0.1);
    estimate.aborted("cold", 2);
    estimate.wait(50);
    expect(estimate.mayRunInline("cold")).toBe(true);
  });

  it("spends a small share of the time on new names, and always runs those with credit", () => {
    const estimate = anEstimate();
    estimate.completed("light", 1);
    let spentMs = 0;
    let isLightInline = true;
    for (let n = 0; n < 20_000; n++) {
      estimate.wait(0.5);
      isLightInline &&= estimate.mayRunInline("light");
      const name = `new ${n}`;
      if (!estimate.mayRunInline(name)) {
        estimate.completed("light", 0.05);
        continue;
      }
      estimate.aborted(name, 1);
      spentMs++;
    }
    expect(isLightInline).toBe(true);
    expect(spentMs).toBeGreaterThan(250);
    expect(spentMs).toBeLessThan(350);
  });

  it.each([1.5, 2.9])("spends no more on a name whose calls complete but take %s ms each", (tookMs) => {
    const estimate = anEstimate();
    let spentMs = 0;
    for (let n = 0; n < 20_000; n++) {
      estimate.wait(0.5);
      if (!estimate.mayRunInline("middling")) continue;
      estimate.wait(tookMs);
      spentMs += tookMs;
      if (tookMs < estimate.limitMs("middling")) estimate.completed("middling", tookMs);
      else estimate.aborted("middling", estimate.limitMs("middling"));
    }
    expect(spentMs).toBeLessThan(350);
  });

  it("does not charge the trial budget for late calls of a name with credit", () => {
    const estimate = anEstimate();
    estimate.completed("light", 0.5);
    for (let n = 0; n < 1000; n++) estimate.completed("light", 1.2);
    expect(estimate.isProven("light")).toBe(true);
    expect(estimate.mayRunInline("new")).toBe(true);
  });

  it("gives credit to a name whose calls were long only while their code was cold", () => {
    const estimate = anEstimate();
    for (const tookMs of [2.8, 2, 1.3, 0.6]) {
      expect(estimate.mayRunInline("warming")).toBe(true);
      estimate.completed("warming", tookMs);
    }
    expect(estimate.isProven("warming")).toBe(true);
  });
});
