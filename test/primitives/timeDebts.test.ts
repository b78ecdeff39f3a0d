import { describe, expect, it } from "vitest";
import { FairQueue } from "../../src/primitives/fairQueue.ts";
import type { Requester } from "../../src/primitives/requester.ts";
import { TimeDebts } from "../../src/primitives/timeDebts.ts";
import { createRandom } from "../simulation/random.ts";

const SLICE_MS = 50;
const LONG_MS = 5000;
const SHORT_MS = 10;

interface Job {
  readonly requester: Requester;
  readonly takesMs: number;
  readonly sentAtMs: number;
}

/** Two lanes on a hand-turned clock, each with one thread, as workers/workerPool.ts has them. */
class TwoLanes {
  nowMs = 0;
  /** How long short jobs waited for their answers, milliseconds. */
  readonly shortWaitsMs: number[] = [];
  /** Who had the slow lane, in order. */
  readonly slowTurns: Requester[] = [];
  private readonly debts = new TimeDebts(() => this.nowMs);
  private readonly fast = new FairQueue<Job>(10_000, this.debts);
  private readonly slow = new FairQueue<Job>(10_000, this.debts);
  private readonly running = new Map<"fast" | "slow", { readonly job: Job; readonly endsAtMs: number }>();
  private readonly sendAgain: (job: Job) => void;

  /** `sendAgain` is called when a job ends. */
  constructor(sendAgain: (job: Job) => void = () => undefined) {
    this.sendAgain = sendAgain;
  }

  send(requester: Requester, takesMs: number): void {
    this.fast.add({ requester, takesMs, sentAtMs: this.nowMs });
  }

  turnTo(nowMs: number): void {
    for (; this.nowMs < nowMs; this.nowMs++) {
      this.step("fast");
      this.step("slow");
    }
  }

  private step(lane: "fast" | "slow"): void {
    const running = this.running.get(lane);
    if (running !== undefined && running.endsAtMs <= this.nowMs) this.end(lane, running.job);
    if (this.running.has(lane)) return;
    const job = this[lane].take();
    if (job === undefined) return;
    if (lane === "slow") this.slowTurns.push(job.requester);
    this.running.set(lane, { job, endsAtMs: this.nowMs + timeOn(lane, job) });
  }

  private end(lane: "fast" | "slow", job: Job): void {
    this.running.delete(lane);
    this.debts.charge(job.requester, timeOn(lane, job));
    for (const queue of [this.fast, this.slow]) queue.served(job.requester);
    if (lane === "fast" && job.takesMs > SLICE_MS) {
      this.slow.add(job);
      return;
    }
    if (job.takesMs <= SLICE_MS) this.shortWaitsMs.push(this.nowMs - job.sentAtMs);
    this.sendAgain(job);
  }
}

function timeOn(lane: "fast" | "slow", { takesMs }: Job): number {
  return lane === "fast" ? Math.min(takesMs, SLICE_MS) : takesMs;
}

function aRequester(remoteHost: string): Requester {
  return { remoteHost, client: {}, isAbandoned: () => false };
}

const SEEDS = Array.from({ length: 20 }, (_, seed) => seed);

describe("time debts", () => {
  it.each(SEEDS)(
    "keep short jobs from waiting for more than a slice or two, for any jobs of others (seed %i)",
    (seed) => {
      const random = createRandom(seed);
      const oneHost = random.chance(0.5);
      const attackers = Array.from({ length: 10 }, (_, at) =>
        aRequester(oneHost ? "proxy" : `attacker ${at}`),
      );
      const lanes = new TwoLanes(({ requester, takesMs }) => {
        if (takesMs === LONG_MS) lanes.send(requester, takesMs);
      });
      for (const attacker of attackers)
        for (let count = random.between(1, 30); count > 0; count--) lanes.send(attacker, LONG_MS);
      const honest = aRequester(oneHost ? "proxy" : "honest");
      for (let atMs = 1000; atMs < 60_000; atMs += random.between(50, 1050)) {
        lanes.turnTo(atMs);
        lanes.send(honest, SHORT_MS);
      }
      lanes.turnTo(62_000);
      expect(Math.max(...lanes.shortWaitsMs)).toBeLessThanOrEqual(2 * SLICE_MS + SHORT_MS);
    },
  );

  it("give the slow lane first to those who took little time", () => {
    const lanes = new TwoLanes(({ requester, takesMs }) => lanes.send(requester, takesMs));
    for (let at = 0; at < 10; at++) lanes.send(aRequester(`attacker ${at}`), LONG_MS);
    lanes.turnTo(60_000);
    const before = lanes.slowTurns.length;
    const honest = aRequester("honest");
    lanes.send(honest, 500);
    lanes.turnTo(72_000);
    const turn = lanes.slowTurns.indexOf(honest);
    expect(turn).toBeGreaterThanOrEqual(before);
    expect(turn - before).toBeLessThanOrEqual(1);
  });

  it("keep nobody out for ever, however many come that owe nothing", () => {
    let nowMs = 0;
    const debts = new TimeDebts(() => nowMs);
    const queue = new FairQueue<{ readonly requester: Requester }>(100, debts);
    const indebted = { requester: aRequester("indebted") };
    debts.charge(indebted.requester, 5000);
    queue.add(indebted);
    let turns = 0;
    for (let taken: unknown; taken !== indebted; turns++) {
      nowMs += 100;
      queue.add({ requester: aRequester(`newcomer ${turns}`) });
      taken = queue.take();
    }
    expect(turns).toBeGreaterThan(100);
    expect(turns).toBeLessThanOrEqual(1001);
  });

  it("forget what was spent long ago", () => {
    let nowMs = 0;
    const debts = new TimeDebts(() => nowMs);
    const requester = aRequester("busy once");
    debts.charge(requester, 5000);
    expect(debts.dueOfHost(requester.remoteHost)).toBe(100_000);
    nowMs = 3_600_000;
    expect(debts.dueOfHost(requester.remoteHost) - nowMs).toBeLessThan(1);
    expect(debts.dueOfClient(requester.client) - nowMs).toBeLessThan(1);
  });
});
