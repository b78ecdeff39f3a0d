import { assert } from "../primitives/assert.ts";
import type { Requester } from "../primitives/requester.ts";
import { TimeDebts } from "../primitives/timeDebts.ts";
import { JobLane, type JobLaneSettings } from "./jobLane.ts";
import { type JobThreadParts, type PendingJob, type Slices, WorkerJobError } from "./jobThread.ts";
import type { WorkLoad } from "./workLoad.ts";

/** The threads are as many on each lane; the time limit is that of the slow one. */
export interface WorkerPoolSettings extends Omit<JobLaneSettings, "slices"> {
  /** Times of a job on the fast lane; others in tests. */
  readonly slices?: Slices;
}

interface WorkerPoolParts<Result> extends JobThreadParts<Result> {
  timedOut(limitMs: number): Result;
  /** Result of a job that is dropped from a full queue. */
  readonly busy: Result;
}

/**
 * Times of a job on the fast lane. A short call takes a few milliseconds on a quiet machine, and several times that with cold code. Ten
 * callers who come together, and of whom nothing is known yet, keep the next one waiting for ten short slices. A job that nobody waits
 * behind has a long one at once.
 */
const SLICES: Slices = { shortMs: 10, longMs: 50, longestFactor: 5 };
/** A worker that takes so many of the longest slices, in a step that cannot be given up, is terminated and started again. */
const SLICES_TO_TERMINATION = 6;

/**
 * Runs jobs on worker threads that can be terminated (architecture.md#threads): an endless loop in one call costs one
 * thread for some seconds, never a block. Each job has a short slice and then a long one on the fast lane, and what does not end in
 * them is begun anew on the slow lane, so that what takes 10 ms never waits for what takes seconds.
 *
 *     run ──> fast queue ──(a worker has capacity)──> worker, for a slice of SLICES ──> result
 *                 ^                                      ├── long job ──> its queued jobs go back
 *                 ├──(short slice used up)───────────────┤
 *                 └──────────────────────────────────────┤
 *             slow queue <──(long slice used up)─────────┘
 *                 └──(the worker is idle)──> worker of the slow lane ──> result
 *                                               └── over the limit ──> terminated, restarted
 *
 * Both queues serve first the remote host, and then its client, that took little time lately on both lanes (timeDebts.ts).
 *
 * Invariants: a worker runs one job at a time and has a few more queued while jobs are short; each accepted job gets
 * exactly one result, whatever happens to its worker; a job that fills the heap of its worker affects no other job; at
 * most `waitingLimit` jobs wait for each kind of slice, and beyond that the requester with the most loses its newest one as busy; a job
 * whose requester is gone is never started; the slow lane has no threads before a job needs it.
 */
export class WorkerPool<Job, Result> {
  private readonly settings: WorkerPoolSettings;
  private readonly parts: WorkerPoolParts<Result>;
  private readonly debts: TimeDebts;
  private readonly fast: JobLane<Job, Result>;
  private readonly slow: JobLane<Job, Result>;
  private isClosed = false;

  constructor(settings: WorkerPoolSettings, parts: WorkerPoolParts<Result>) {
    assert(settings.threads > 0, "a worker pool has at least one thread");
    this.settings = settings;
    this.parts = parts;
    const { slices = SLICES } = settings;
    this.debts = new TimeDebts(() => parts.clock.nowMs());
    const common = {
      ...parts,
      debts: this.debts,
      charge: (requester: Requester, tookMs: number) => this.charge(requester, tookMs),
      giveUp: (pending: PendingJob<Job, Result>) => this.giveUp(pending),
    };
    const longestMs = slices.longMs * slices.longestFactor;
    this.fast = new JobLane(
      { ...settings, slices, timeoutMs: longestMs * SLICES_TO_TERMINATION },
      { ...common, exceeded: (pending) => this.continueSlowly(pending) },
    );
    this.slow = new JobLane(
      { ...settings, slices: undefined },
      { ...common, exceeded: (pending) => this.giveUp(pending) },
    );
  }

  /** Starts the workers, which otherwise start with the first job: many nodes never get some kinds of jobs. */
  start(): void {
    this.fast.start();
  }

  /** Rejects with WorkerJobError when the pool is closed or its worker failed. A job whose requester is gone gets `timedOut`. */
  run(job: Job, requester: Requester): Promise<Result> {
    if (this.isClosed) return Promise.reject(new WorkerJobError(CLOSED));
    return new Promise((resolve, reject) =>
      this.fast.add({ job, requester, hasLongSlice: false, resolve, reject }),
    );
  }

  /** Number of workers, of busy workers, and of jobs that wait. */
  get load(): WorkLoad {
    const [fast, slow] = [this.fast.load, this.slow.load];
    return {
      threads: fast.threads + slow.threads,
      active: fast.active + slow.active,
      waiting: fast.waiting + slow.waiting,
    };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const closed = new WorkerJobError(CLOSED);
    await Promise.all([this.fast.close(closed), this.slow.close(closed)]);
  }

  private continueSlowly(pending: PendingJob<Job, Result>): void {
    if (this.isClosed) pending.reject(new WorkerJobError(CLOSED));
    else if (pending.requester.isAbandoned()) this.giveUp(pending);
    else this.slow.add(pending);
  }

  private charge(requester: Requester, tookMs: number): void {
    this.debts.charge(requester, tookMs);
    this.fast.charged(requester);
    this.slow.charged(requester);
  }

  private giveUp({ resolve }: PendingJob<Job, Result>): void {
    resolve(this.parts.timedOut(this.settings.timeoutMs));
  }
}

const CLOSED = "the worker pool is closed";
