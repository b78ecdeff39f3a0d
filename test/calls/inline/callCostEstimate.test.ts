import { describe, expect, it } from "vitest";
import { type CallCostEstimate, createCallCostEstimate } from "../../../src/calls/inline/callCostEstimate.ts";

function aMemory(): CallCostEstimate & { wait(ms: number): void } {
  let nowMs = 0;
  return {
    ...createCallCostEstimate(() => nowMs),
    wait: (ms) => {
      nowMs += ms;
    },
  };
}

describe("the memory of calls", () => {
  it("leaves a name alone for longer each time that it was too long", () => {
    const memory = aMemory();
    const pauses: number[] = [];
    for (let n = 0; n < 6; n++) {
      expect(memory.mayRunInline("heavy")).toBe(true);
      memory.abandoned("heavy", 1);
      let pausedMs = 0;
      for (; !memory.mayRunInline("heavy"); pausedMs++) memory.wait(1);
      pauses.push(pausedMs);
    }
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160]);
  });

  it("goes on with a name whose calls mostly end, though one is held up from time to time", () => {
    const memory = aMemory();
    for (let n = 1; n <= 1000; n++) {
      memory.wait(1);
      expect(memory.mayRunInline("light")).toBe(true);
      if (n % 100 === 0) memory.abandoned("light", 50);
      else memory.ended("light", 0.1);
    }
  });

  it("keeps what it knows of a name in use, however many others somebody invents", () => {
    const memory = aMemory();
    for (let n = 0; n < 100; n++) memory.ended("light", 1);
    for (let n = 0; n < 20_000; n++) {
      memory.abandoned(`invented ${n}`, 1);
      if (n % 1000 === 0) memory.ended("light", 0.1);
    }
    expect(memory.isProven("light")).toBe(true);
  });

  it("tries again soon a name that was too long while the code was cold", () => {
    const memory = aMemory();
    for (let n = 0; n < 8; n++) memory.abandoned("cold", 1);
    memory.wait(10_000);
    for (let n = 0; n < 20; n++) memory.ended("cold", 0.1);
    memory.abandoned("cold", 2);
    memory.wait(50);
    expect(memory.mayRunInline("cold")).toBe(true);
  });

  it("spends a small share of the time on names that are new, and has all of it for those that proved themselves", () => {
    const memory = aMemory();
    memory.ended("light", 1);
    let spentMs = 0;
    let isLightTried = true;
    for (let n = 0; n < 20_000; n++) {
      memory.wait(0.5);
      isLightTried &&= memory.mayRunInline("light");
      const name = `new ${n}`;
      if (!memory.mayRunInline(name)) {
        memory.ended("light", 0.05);
        continue;
      }
      memory.abandoned(name, 1);
      spentMs++;
    }
    expect(isLightTried).toBe(true);
    expect(spentMs).toBeGreaterThan(250);
    expect(spentMs).toBeLessThan(350);
  });

  it.each([1.5, 2.9])(
    "spends no more of it on a name whose calls end, but take %s ms each time",
    (tookMs) => {
      const memory = aMemory();
      let spentMs = 0;
      for (let n = 0; n < 20_000; n++) {
        memory.wait(0.5);
        if (!memory.mayRunInline("middling")) continue;
        memory.wait(tookMs);
        spentMs += tookMs;
        if (tookMs < memory.mostMs("middling")) memory.ended("middling", tookMs);
        else memory.abandoned("middling", memory.mostMs("middling"));
      }
      expect(spentMs).toBeLessThan(350);
    },
  );

  it("takes nothing from the time for trials for a name that is known to be short, though its calls end late now and then", () => {
    const memory = aMemory();
    memory.ended("light", 0.5);
    for (let n = 0; n < 1000; n++) memory.ended("light", 1.2);
    expect(memory.isProven("light")).toBe(true);
    expect(memory.mayRunInline("new")).toBe(true);
  });

  it("finds a name short whose calls were long as long as their code was cold", () => {
    const memory = aMemory();
    for (const tookMs of [2.8, 2, 1.3, 0.6]) {
      expect(memory.mayRunInline("warming")).toBe(true);
      memory.ended("warming", tookMs);
    }
    expect(memory.isProven("warming")).toBe(true);
  });
});
