import { assert } from "../primitives/assert.ts";
import { FairQueue } from "../primitives/fairQueue.ts";
import type { Requester } from "../primitives/requester.ts";
import {
  type JobSource,
  JobThread,
  type JobThreadParts,
  type JobThreadSettings,
  type PendingJob,
  WorkerJobError,
} from "./jobThread.ts";
import { failureOfAll } from "./supervisedThread.ts";
import type { WorkLoad } from "./workLoad.ts";

/**
 * Runs jobs on worker threads that can be terminated (architecture.md#threads): an endless loop in one call costs one
 * thread for some seconds, never a block, and delays each other caller by no more than that.
 *
 *     run ──> queue, by remote host and client ──(a worker has capacity)──> worker ──> result
 *                       ^                                                     ├── long job ──> its queued jobs go back
 *                       └─────────────────────────────────────────────────────┴── over the limit ──> terminated, restarted
 *
 * Invariants: a worker runs one job at a time and has a few more queued while jobs are short; each accepted job gets
 * exactly one result, whatever happens to its worker; a job that fills the heap of its worker affects no other job; at
 * most `waitingLimit` jobs wait, and beyond that the requester with the most loses its newest one as busy; a job waits
 * for at most one long job of each other remote host and of each other client of its own host; a job whose requester is
 * gone is never started.
 */
export interface WorkerPool<Job, Result> {
  /** Rejects with WorkerJobError when the pool is closed or its worker failed. A job whose requester is gone gets `timedOut`. */
  run(job: Job, requester: Requester): Promise<Result>;
  /** Starts the workers, which otherwise start with the first job: many nodes never get some kinds of jobs. */
  start(): void;
  /** Number of workers, of busy workers, and of jobs that wait. */
  readonly load: WorkLoad;
  close(): Promise<void>;
}

export interface WorkerPoolSettings extends JobThreadSettings {
  readonly threads: number;
  readonly waitingLimit: number;
}

export interface WorkerPoolParts<Result> extends JobThreadParts<Result> {
  /** Result of a job that is dropped from a full queue. */
  readonly busy: Result;
}

export function createWorkerPool<Job, Result>(
  settings: WorkerPoolSettings,
  parts: WorkerPoolParts<Result>,
): WorkerPool<Job, Result> {
  assert(settings.threads > 0, "a worker pool has at least one thread");
  return new ThreadedWorkerPool<Job, Result>(settings, parts);
}

class ThreadedWorkerPool<Job, Result> implements WorkerPool<Job, Result>, JobSource<Job, Result> {
  private readonly settings: WorkerPoolSettings;
  private readonly parts: WorkerPoolParts<Result>;
  private readonly threads: readonly JobThread<Job, Result>[];
  private readonly waiting: FairQueue<PendingJob<Job, Result>>;
  private isClosed = false;

  constructor(settings: WorkerPoolSettings, parts: WorkerPoolParts<Result>) {
    this.settings = settings;
    this.parts = parts;
    this.threads = Array.from({ length: settings.threads }, () => new JobThread(settings, parts, this));
    this.waiting = new FairQueue(settings.waitingLimit);
  }

  start(): void {
    for (const thread of this.threads) thread.start();
  }

  run(job: Job, requester: Requester): Promise<Result> {
    if (this.isClosed) return Promise.reject(new WorkerJobError(CLOSED));
    this.start();
    return new Promise((resolve, reject) => {
      this.waiting.add({ job, requester, resolve, reject })?.resolve(this.parts.busy);
      this.sendAll();
    });
  }

  get load(): WorkLoad {
    const busy = this.threads.filter(({ jobCount }) => jobCount > 0);
    const queued = busy.reduce((sum, { jobCount }) => sum + jobCount - 1, 0);
    return {
      threads: this.threads.filter(({ isStarted }) => isStarted).length,
      active: busy.length,
      waiting: this.waiting.size + queued,
    };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const closed = new WorkerJobError(CLOSED);
    this.rejectWaiting(closed);
    await Promise.all(this.threads.map((thread) => thread.close(closed)));
  }

  putBack(jobs: readonly PendingJob<Job, Result>[], served: Requester | undefined): void {
    this.waiting.putBack(jobs, served);
  }

  sendAll(): void {
    const failure = failureOfAll(this.threads);
    if (failure !== undefined) this.rejectWaiting(new WorkerJobError(failure.message));
    for (;;) {
      const thread = this.leastBusy();
      const next = thread === undefined ? undefined : this.waiting.take();
      if (thread === undefined || next === undefined) return;
      if (next.requester.isAbandoned()) this.giveUp(next);
      else thread.send(next);
    }
  }

  dropAbandoned(): void {
    for (const abandoned of this.waiting.takeAbandoned()) this.giveUp(abandoned);
  }

  /** The worker with the fewest jobs among those that can be sent another one. */
  private leastBusy(): JobThread<Job, Result> | undefined {
    let leastBusy: JobThread<Job, Result> | undefined;
    for (const thread of this.threads) {
      if (!thread.canTakeJob) continue;
      if (leastBusy === undefined || thread.jobCount < leastBusy.jobCount) leastBusy = thread;
    }
    return leastBusy;
  }

  private giveUp({ resolve }: PendingJob<Job, Result>): void {
    resolve(this.parts.timedOut(this.settings.timeoutMs));
  }

  private rejectWaiting(failure: WorkerJobError): void {
    for (const { reject } of this.waiting.takeAll()) reject(failure);
  }
}

const CLOSED = "the worker pool is closed";
