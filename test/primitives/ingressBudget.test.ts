import { describe, expect, it } from "vitest";
import { IngressBudget } from "../../src/primitives/ingressBudget.ts";
import { createHandClock } from "../builders/handClock.ts";

/** An ingress budget on a clock that advances while a message is read. */
function start() {
  const clock = createHandClock(0);
  const budget = new IngressBudget(clock, { share: 0.25, burstMs: 50 });
  const done: string[] = [];
  /** A message that takes `tookMs` to read. */
  const read = (name: string, tookMs: number): boolean =>
    budget.take(() => {
      clock.advanceBy(tookMs);
      done.push(name);
    });
  return { clock, budget, done, read };
}

describe("the ingress budget", () => {
  it("reads at once until the budget is spent, then in the order of arrival", () => {
    const { clock, done, read } = start();
    expect([read("a", 40), read("b", 40), read("c", 40), read("d", 1)]).toEqual([true, true, false, false]);
    clock.advanceBy(100);
    expect(done).toEqual(["a", "b", "c"]);
    clock.advanceBy(1000);
    expect(done).toEqual(["a", "b", "c", "d"]);
    expect(read("e", 1)).toBe(true);
  });

  it("serves senders round-robin, and keeps the order of each", () => {
    const { clock, budget, done, read } = start();
    read("first", 100);
    const sent = { greedy: ["a", "b", "c"], modest: ["d"], other: ["e", "f"] };
    for (const [sender, names] of Object.entries(sent))
      for (const name of names) budget.take(() => void done.push(name), sender);
    clock.advanceBy(1000);
    expect(done).toEqual(["first", "a", "d", "e", "b", "f", "c"]);
  });

  it("counts the time of follow-up work, too", () => {
    const { clock, budget, done, read } = start();
    expect(read("a", 1)).toBe(true);
    budget.charge(() => clock.advanceBy(100));
    expect(read("b", 1)).toBe(false);
    clock.advanceBy(1000);
    expect(done).toEqual(["a", "b"]);
  });

  it("forgets what is withdrawn while it waits, and leaves no timer behind for it", () => {
    const { clock, budget, done, read } = start();
    read("first", 100);
    const turns = ["a", "b", "c"].map((name) => () => void done.push(name));
    for (const turn of turns) budget.take(turn, "sender");
    const [, second = () => undefined, ...others] = turns;
    budget.withdraw(second, "sender");
    budget.withdraw(second, "sender");
    clock.advanceBy(1000);
    expect(done).toEqual(["first", "a", "c"]);
    read("last", 1000);
    for (const turn of others) {
      budget.take(turn, "sender");
      budget.withdraw(turn, "sender");
    }
    expect(clock.nextAlarmMs).toBeUndefined();
  });

  it("reads nothing after it is closed, and leaves no timer behind", () => {
    const { clock, budget, done, read } = start();
    for (const name of ["a", "b", "c"]) read(name, 60);
    expect(clock.nextAlarmMs).toBeDefined();
    budget.close();
    expect(clock.nextAlarmMs).toBeUndefined();
    clock.advanceBy(10_000);
    expect(done).toEqual(["a", "b"]);
    expect(read("late", 1)).toBe(false);
    expect(clock.nextAlarmMs).toBeUndefined();
  });

  it("takes a quarter of the time under any load", () => {
    const { clock, done, read } = start();
    for (let number = 0; number < 1000; number++) read(String(number), 10);
    for (; clock.nowMs() < 10_000; ) clock.advanceBy(1);
    expect(done.length * 10).toBeGreaterThan(2400);
    expect(done.length * 10).toBeLessThan(2700);
  });

  it("lets nobody wait for more than two seconds when the process stood still while it read", () => {
    const { clock, done, read } = start();
    read("interrupted", 60_000);
    read("next", 1);
    clock.advanceBy(2_000);
    expect(done).toEqual(["interrupted", "next"]);
  });
});
