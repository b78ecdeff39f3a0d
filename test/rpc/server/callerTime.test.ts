import { setImmediate as nextCycle } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Budget } from "../../../src/rpc/graphql/execution/budget.ts";
import { CallerPacer, CallerTime } from "../../../src/rpc/server/callerTime.ts";

function aCallerTime() {
  const clock = { nowMs: 0 };
  const time = new CallerTime(() => clock.nowMs);
  const done: string[] = [];
  const work = (name: string, ms: number) => () => {
    clock.nowMs += ms;
    done.push(name);
  };
  return { clock, time, done, work };
}

async function cycles(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await nextCycle();
}

describe("the time of a thread", () => {
  it("is free to a host that has used little, and again some time after it has used much", () => {
    const { clock, time, work } = aCallerTime();
    expect(time.isFree("a")).toBe(true);
    time.now("a", work("first", 19));
    expect(time.isFree("a")).toBe(true);
    time.now("a", work("second", 100));
    expect(time.isFree("a")).toBe(false);
    expect(time.isFree("b")).toBe(true);
    clock.nowMs += 2_000;
    expect(time.isFree("a")).toBe(true);
  });

  it("counts however little each piece of work takes", () => {
    const { time, work } = aCallerTime();
    for (let n = 0; n < 1000; n++) time.now("a", work("tiny", 0.05));
    expect(time.isFree("a")).toBe(false);
    expect(time.isFree("b")).toBe(true);
  });

  it("counts little work of a host while some hundred others have as little done", () => {
    const { time, work } = aCallerTime();
    for (let n = 0; n < 1000; n++) {
      time.now("a", work("tiny", 0.05));
      time.now(`other ${n % 500}`, work("tiny", 0.001));
    }
    expect(time.isFree("a")).toBe(false);
    expect(time.isFree("other 0")).toBe(true);
  });

  it("is remembered of a bounded number of hosts, whether they used much or little", () => {
    const { time } = aCallerTime();
    time.spend("much", 1000);
    for (let n = 0; n < 100; n++) {
      time.spend("little", 0.4);
      for (let other = 0; other < 1500; other++) time.spend(`${n} ${other}`, 0.01);
    }
    expect(time.isFree("little")).toBe(true);
    expect(time.isFree("much")).toBe(false);
    for (let other = 0; other < 1500; other++) time.spend(`${other}`, 30);
    expect(time.isFree("much")).toBe(true);
  });

  it("goes to the host that has used least, whatever others have asked for before", async () => {
    const { time, done, work } = aCallerTime();
    for (const [host, ms] of [
      ["much", 400],
      ["some", 100],
    ] as const)
      time.now(host, work(host, ms));
    const waiting = ["1", "2", "3"].map((n) => time.inTurn("much", work(`much ${n}`, 10)));
    waiting.push(time.inTurn("some", work("some 1", 10)), time.inTurn("some", work("some 2", 10)));
    await Promise.all(waiting);
    expect(done.slice(2)).toEqual(["some 1", "some 2", "much 1", "much 2", "much 3"]);
  });

  it("is given for some milliseconds in each cycle of the event loop", async () => {
    const { time, done, work } = aCallerTime();
    for (let n = 0; n < 10; n++) void time.inTurn("a", work(`${n}`, 3));
    expect(done).toHaveLength(0);
    await cycles(1);
    const first = done.length;
    expect(first).toBeLessThanOrEqual(2);
    await cycles(10);
    expect(done).toHaveLength(10);
  });

  it("is given to one at a time that fills a slice", async () => {
    const { time, done, work } = aCallerTime();
    for (const host of ["a", "b", "c"]) void time.turn(host).then(work(host, 5));
    await cycles(1);
    expect(done.length).toBeLessThanOrEqual(1);
    await cycles(5);
    expect(done).toEqual(["a", "b", "c"]);
  });

  it("is not lost to work that throws", async () => {
    const { time, done, work } = aCallerTime();
    const failing = time.inTurn("a", () => {
      throw new Error("no such block");
    });
    const next = time.inTurn("a", work("next", 1));
    await expect(failing).rejects.toThrow("no such block");
    await next;
    expect(done).toEqual(["next"]);
  });
});

describe("long work for a host", () => {
  it("counts with all the time that its slices took", async () => {
    const { clock, time } = aCallerTime();
    const pacer = new CallerPacer(time, "a");
    clock.nowMs += 60;
    expect(pacer.isDue()).toBe(true);
    await pacer.yield();
    expect(time.isFree("a")).toBe(false);
  });

  it("does not count with what it waited for within a slice", async () => {
    const { clock, time } = aCallerTime();
    const pacer = new CallerPacer(time, "a");
    const others = async () => {
      clock.nowMs += 60;
    };
    await pacer.waitFor(Promise.resolve().then(others));
    await pacer.yield();
    expect(time.isFree("a")).toBe(true);
  });

  it("counts before each wait for other threads, however short it was", async () => {
    const { clock, time } = aCallerTime();
    const pacer = new CallerPacer(time, "a");
    const budget = new Budget(() => false, { pacer });
    for (let n = 0; n < 100; n++) {
      clock.nowMs += 0.4;
      await budget.waitFor(Promise.resolve());
    }
    expect(time.isFree("a")).toBe(false);
  });
});
