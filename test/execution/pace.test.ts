import { expect, it } from "vitest";
import { createYieldPolicy, inSteps, OutOfTime } from "../../src/execution/yieldPolicy.ts";

/** Each look at it is 4 ms later than the one before. */
function hurriedClock(): { nowMs(): number } {
  let nowMs = 0;
  return { nowMs: () => (nowMs += 4) };
}

function* hundredSteps(done: { steps: number }): Generator<undefined, string, void> {
  for (; done.steps < 100; done.steps++) yield;
  return "done";
}

it("lets others have their turn between the steps of long work", async () => {
  const done = { steps: 0 };
  let turns = 0;
  const others = (): void => {
    turns++;
    if (done.steps < 100) setImmediate(others);
  };
  setImmediate(others);
  expect(await inSteps(hundredSteps(done), createYieldPolicy(hurriedClock()))).toBe("done");
  expect(turns).toBeGreaterThanOrEqual(25);
});

it("begins no further step once nobody waits for the work", async () => {
  const done = { steps: 0 };
  const signal = { aborted: false };
  setImmediate(() => {
    signal.aborted = true;
  });
  await expect(inSteps(hundredSteps(done), createYieldPolicy(hurriedClock(), { signal }))).rejects.toThrow(
    OutOfTime,
  );
  expect(done.steps).toBeLessThan(10);
});
