import { describe, expect, it } from "vitest";
import {
  MAX_WAITING_JOBS,
  type NextStep,
  type ReadingAccount,
  ReadingScheduler,
  SLICE_MS,
} from "../../../src/consensus/router/readingShares.ts";

const FLOODER: ReadingAccount = { key: "flooder", share: 0.1, burstMs: 50 };
const HONEST: ReadingAccount = { key: "honest", share: 0.1, burstMs: 50 };

/** A simulated thread: deferred work runs in slices and takes time on its clock. */
function aThread() {
  let nowMs = 0;
  let alarms: { readonly atMs: number; readonly action: () => void }[] = [];
  const clock = {
    nowMs: () => nowMs,
    at(atMs: number, action: () => void) {
      const alarm = { atMs, action };
      alarms.push(alarm);
      return {
        cancel() {
          alarms = alarms.filter((one) => one !== alarm);
        },
      };
    },
  };
  let deferred: (() => void)[] = [];
  const shares = new ReadingScheduler({ clock, defer: (action) => deferred.push(action) });
  const done: string[] = [];
  const turnsMs: number[] = [];
  let busyMs = 0;

  function work(durationMs: number): void {
    busyMs += durationMs;
    nowMs += durationMs;
  }

  return {
    clock,
    shares,
    done,
    turnsMs,
    get busyMs() {
      return busyMs;
    },
    start(
      name: string,
      account: ReadingAccount,
      { steps = 1, stepMs = 1, kind = "charged" as NextStep, bytes = 100 } = {},
    ) {
      let left = steps;
      return shares.start({
        account,
        bytes,
        step() {
          work(stepMs);
          left -= 1;
          if (left > 0) return kind;
          done.push(name);
          return "done";
        },
        dropped: () => done.push(`${name} dropped`),
      });
    },
    /** Runs slices, a millisecond apart when idle, until the given time has passed. */
    runFor(durationMs: number) {
      const endMs = nowMs + durationMs;
      for (let loops = 0; nowMs < endMs; loops++) {
        if (loops > 10_000) throw new Error("the thread has no rest");
        const due = alarms.filter(({ atMs }) => atMs <= nowMs);
        alarms = alarms.filter(({ atMs }) => atMs > nowMs);
        const actions = [...deferred, ...due.map(({ action }) => action)];
        deferred = [];
        for (const action of actions) {
          const startMs = nowMs;
          action();
          turnsMs.push(nowMs - startMs);
        }
        if (actions.length === 0) nowMs += 1;
      }
    },
  };
}

describe("shares of the thread", () => {
  it("let an author's flood delay only its own messages", () => {
    const thread = aThread();
    for (let index = 0; index < 40; index++) thread.start(`flood ${index}`, FLOODER, { steps: 10 });
    thread.runFor(100);
    const before = thread.clock.nowMs();
    thread.start("vote", HONEST);
    thread.runFor(SLICE_MS + 2);
    expect(thread.done).toContain("vote");
    expect(thread.clock.nowMs() - before).toBeLessThan(20);
    const spent = thread.busyMs;
    thread.runFor(1000);
    // A tenth of the time, plus the step that exceeds it.
    expect(thread.busyMs - spent).toBeLessThan(120);
    expect(thread.busyMs - spent).toBeGreaterThan(80);
  });

  it("finish an author's messages in order of arrival, in slices of some ms", () => {
    const thread = aThread();
    thread.start("certificate", HONEST, { steps: 30 });
    thread.start("vote", HONEST);
    thread.start("vote of another", { ...HONEST, key: "another" });
    thread.runFor(600);
    expect(thread.done).toEqual(["vote of another", "certificate", "vote"]);
    expect(Math.max(...thread.turnsMs)).toBeLessThanOrEqual(SLICE_MS + 1);
  });

  it("do not charge free steps, such as a large block", () => {
    const thread = aThread();
    thread.start("proposal", HONEST, { steps: 2, stepMs: 30, kind: "free" });
    thread.start("vote", HONEST);
    thread.runFor(100);
    expect(thread.done).toEqual(["proposal", "vote"]);
  });

  it("queue a bounded number of jobs, and drop all of them with the height", () => {
    const thread = aThread();
    thread.start("first", FLOODER, { steps: 1000 });
    const taken = Array.from({ length: 100 }, (_, index) => thread.start(`flood ${index}`, FLOODER));
    expect(taken.filter(Boolean).length).toBe(MAX_WAITING_JOBS - 1);
    expect(thread.start("large", HONEST, { bytes: 2 ** 30, steps: 100 })).toBe(true);
    expect(thread.start("larger", HONEST, { bytes: 2 ** 30 })).toBe(false);
    thread.shares.clear();
    expect(thread.done.filter((name) => name.endsWith("dropped")).length).toBe(MAX_WAITING_JOBS + 1);
    thread.done.length = 0;
    thread.runFor(2000);
    expect(thread.done).toEqual([]);
  });
});
