import { describe, expect, it } from "vitest";
import { createIngressBudget } from "../../src/primitives/ingressBudget.ts";
import { createHandClock } from "../builders/handClock.ts";

/** A pace on a clock that reading moves on. */
function start() {
  const clock = createHandClock(0);
  const pace = createIngressBudget(clock, { share: 0.25, burstMs: 50 });
  const done: string[] = [];
  /** What takes so long to read. */
  const read = (name: string, tookMs: number): boolean =>
    pace.take(() => {
      clock.advanceBy(tookMs);
      done.push(name);
    });
  return { clock, pace, done, read };
}

describe("what is read at a pace", () => {
  it("is read at once until the time for it is spent, and then in the order in which it came", () => {
    const { clock, done, read } = start();
    expect([read("a", 40), read("b", 40), read("c", 40), read("d", 1)]).toEqual([true, true, false, false]);
    clock.advanceBy(100);
    expect(done).toEqual(["a", "b", "c"]);
    clock.advanceBy(1000);
    expect(done).toEqual(["a", "b", "c", "d"]);
    expect(read("e", 1)).toBe(true);
  });

  it("is read in turns of those who sent it, what each sent in its order", () => {
    const { clock, pace, done, read } = start();
    read("first", 100);
    const sent = { greedy: ["a", "b", "c"], modest: ["d"], other: ["e", "f"] };
    for (const [sender, names] of Object.entries(sent))
      for (const name of names) pace.take(() => void done.push(name), sender);
    clock.advanceBy(1000);
    expect(done).toEqual(["first", "a", "d", "e", "b", "f", "c"]);
  });

  it("costs what is made of it later, too", () => {
    const { clock, pace, done, read } = start();
    expect(read("a", 1)).toBe(true);
    pace.charge(() => clock.advanceBy(100));
    expect(read("b", 1)).toBe(false);
    clock.advanceBy(1000);
    expect(done).toEqual(["a", "b"]);
  });

  it("is left alone after the end, and leaves no timer behind", () => {
    const { clock, pace, done, read } = start();
    for (const name of ["a", "b", "c"]) read(name, 60);
    expect(clock.nextAlarmMs).toBeDefined();
    pace.close();
    expect(clock.nextAlarmMs).toBeUndefined();
    clock.advanceBy(10_000);
    expect(done).toEqual(["a", "b"]);
    expect(read("late", 1)).toBe(false);
    expect(clock.nextAlarmMs).toBeUndefined();
  });

  it("takes a quarter of the time, however much there is of it", () => {
    const { clock, done, read } = start();
    for (let number = 0; number < 1000; number++) read(String(number), 10);
    for (; clock.nowMs() < 10_000; ) clock.advanceBy(1);
    expect(done.length * 10).toBeGreaterThan(2400);
    expect(done.length * 10).toBeLessThan(2700);
  });
});
