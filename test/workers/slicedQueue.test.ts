import { describe, expect, it } from "vitest";
import { TimeDebts } from "../../src/primitives/timeDebts.ts";
import { type SlicedJob, SlicedQueue } from "../../src/workers/slicedQueue.ts";

interface Job extends SlicedJob {
  readonly name: string;
  /** Time that it needs, milliseconds. */
  readonly needsMs: number;
}

const SHORT_MS = 10;
const LONG_MS = 50;

/** One thread that takes jobs from a queue, by a clock that only its work advances. Jobs end, or have used up both slices. */
function aThread() {
  let nowMs = 0;
  const debts = new TimeDebts(() => nowMs);
  const queue = new SlicedQueue<Job>(1000, debts);
  const ended: string[] = [];
  return {
    queue,
    ended,
    come(name: string, needsMs: number): void {
      const requester = { remoteHost: name, client: {}, isAbandoned: () => false };
      queue.add({ name, needsMs, requester, hasLongSlice: false });
    },
    /** Works on one slice. Returns the name of its job, and the slice. */
    step(): string | undefined {
      const job = queue.take();
      if (job === undefined) return undefined;
      const { name, needsMs, requester, hasLongSlice } = job;
      const sliceMs = hasLongSlice ? LONG_MS : SHORT_MS;
      const tookMs = Math.min(needsMs, sliceMs);
      nowMs += tookMs;
      queue.spend(job, tookMs);
      debts.charge(requester, tookMs);
      queue.served(requester);
      if (needsMs <= sliceMs || hasLongSlice) ended.push(name);
      else {
        job.hasLongSlice = true;
        queue.add(job);
      }
      return `${name} ${sliceMs}`;
    },
    get nowMs() {
      return nowMs;
    },
  };
}

const ENDLESS = Number.POSITIVE_INFINITY;

describe("jobs in slices", () => {
  it("that take little wait for the short slices of ten that never end and one long one", () => {
    const thread = aThread();
    for (let n = 0; n < 10; n++) thread.come(`endless ${n}`, ENDLESS);
    thread.step();
    thread.come("small", 2);
    while (thread.ended.at(-1) !== "small") thread.step();
    expect(thread.ended).toHaveLength(2);
    expect(thread.nowMs).toBe(10 * SHORT_MS + LONG_MS + 2);
  });

  it("that take little and come all the time wait for one long slice each, though many need more", () => {
    const thread = aThread();
    for (let n = 0; n < 10; n++) thread.come(`endless ${n}`, ENDLESS);
    while (thread.step() !== `endless 9 ${SHORT_MS}`);
    for (let n = 0; n < 9; n++) {
      thread.come(`small ${n}`, 2);
      const cameAtMs = thread.nowMs;
      while (thread.ended.at(-1) !== `small ${n}`) thread.step();
      expect(thread.nowMs - cameAtMs).toBeLessThanOrEqual(LONG_MS + 2);
    }
  });

  it("that need a long slice have a quarter of the time beside any number of small ones", () => {
    const thread = aThread();
    thread.come("long", 40);
    thread.come("endless", ENDLESS);
    for (let n = 0; n < 500; n++) thread.come(`small ${n}`, 5);
    while (thread.ended.length === 0 || !thread.ended.includes("endless")) thread.step();
    expect(thread.ended).toContain("long");
    const small = thread.ended.filter((name) => name.startsWith("small")).length;
    expect(small * 5).toBeLessThanOrEqual(3 * (40 + LONG_MS));
  });

  it("keep their kind and their order when they are put back", () => {
    const thread = aThread();
    for (const name of ["a", "b", "c"]) thread.come(name, ENDLESS);
    while (thread.step() !== `c ${SHORT_MS}`);
    thread.come("d", 2);
    expect(thread.queue.size).toBe(3);
    const taken = [thread.queue.take(), thread.queue.take()].filter((job) => job !== undefined);
    thread.queue.putBack(taken, undefined);
    expect(thread.queue.size).toBe(3);
    const rest: (string | undefined)[] = [];
    while (thread.queue.size > 0) rest.push(thread.step());
    expect(rest.filter((name) => name === `d ${SHORT_MS}`)).toHaveLength(1);
    expect(rest.filter((name) => name?.endsWith(`${LONG_MS}`))).toHaveLength(2);
  });
});
