import { expect, it } from "vitest";
import { createYieldPolicy, OutOfTime } from "../../src/execution/yieldPolicy.ts";
import { inSteps } from "../../src/primitives/steps.ts";

/** A clock that advances by 4 ms at each read. */
function fastClock(): { nowMs(): number } {
  let nowMs = 0;
  return { nowMs: () => (nowMs += 4) };
}

function* hundredSteps(done: { steps: number }): Generator<undefined, string, void> {
  for (; done.steps < 100; done.steps++) yield;
  return "done";
}

it("yields to other work between the steps of long work", async () => {
  const done = { steps: 0 };
  let slices = 0;
  const otherWork = (): void => {
    slices++;
    if (done.steps < 100) setImmediate(otherWork);
  };
  setImmediate(otherWork);
  expect(await inSteps(hundredSteps(done), createYieldPolicy(fastClock()))).toBe("done");
  expect(slices).toBeGreaterThanOrEqual(25);
});

it("starts no further step once the work is aborted", async () => {
  const done = { steps: 0 };
  const signal = { aborted: false };
  setImmediate(() => {
    signal.aborted = true;
  });
  await expect(inSteps(hundredSteps(done), createYieldPolicy(fastClock(), { signal }))).rejects.toThrow(
    OutOfTime,
  );
  expect(done.steps).toBeLessThan(10);
});
