import { setImmediate as nextCycle } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { atEndOfCycle } from "../../../src/rpc/server/endOfCycle.ts";
import { takeTimeouts } from "../../builders/handTimeouts.ts";

test("what is sent in one cycle of the event loop is sent together at its end, in order", async () => {
  takeTimeouts();
  const sent: number[] = [];
  for (const answer of [1, 2, 3]) {
    await Promise.resolve();
    atEndOfCycle(() => sent.push(answer));
  }
  expect(sent).toEqual([]);
  await nextCycle();
  expect(sent).toEqual([1, 2, 3]);
});

test("no answer waits for more than a millisecond of others", async () => {
  takeTimeouts();
  const sent: number[] = [];
  atEndOfCycle(() => sent.push(1));
  vi.advanceTimersByTime(1);
  atEndOfCycle(() => sent.push(2));
  expect(sent).toEqual([]);
  vi.advanceTimersByTime(1);
  atEndOfCycle(() => sent.push(3));
  expect(sent).toEqual([1, 2, 3]);
  atEndOfCycle(() => sent.push(4));
  expect(sent).toEqual([1, 2, 3]);
  await nextCycle();
  expect(sent).toEqual([1, 2, 3, 4]);
});

test("what is sent while answers are sent comes with the next cycle", async () => {
  takeTimeouts();
  const sent: number[] = [];
  atEndOfCycle(() => atEndOfCycle(() => sent.push(2)));
  await nextCycle();
  expect(sent).toEqual([]);
  await nextCycle();
  expect(sent).toEqual([2]);
});
