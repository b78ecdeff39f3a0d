import type { Requester } from "../primitives/requester.ts";
import type { TimeDebts } from "../primitives/timeDebts.ts";
import {
  type JobSource,
  JobThread,
  type JobThreadParts,
  type JobThreadSettings,
  type PendingJob,
  WorkerJobError,
} from "./jobThread.ts";
import { SlicedQueue } from "./slicedQueue.ts";
import { failureOfAll } from "./supervisedThread.ts";
import type { WorkLoad } from "./workLoad.ts";

export interface JobLaneSettings extends JobThreadSettings {
  readonly threads: number;
  readonly waitingLimit: number;
}

interface JobLaneParts<Job, Result> extends JobThreadParts<Result> {
  /** The time spent on each requester, on all lanes together. */
  readonly debts: TimeDebts;
  /** Result of a job that is dropped from a full queue. */
  readonly busy: Result;
  /** The requester was charged. */
  charge(requester: Requester, tookMs: number): void;
  /** A job used up its time on this lane, a long slice where it has slices. */
  exceeded(pending: PendingJob<Job, Result>): void;
  /** Gives up a job whose requester is gone. */
  giveUp(pending: PendingJob<Job, Result>): void;
}

/** Threads that are sent jobs from one queue, in which those are first whose requesters took little time lately. */
export class JobLane<Job, Result> implements JobSource<Job, Result> {
  private readonly parts: JobLaneParts<Job, Result>;
  private readonly threads: readonly JobThread<Job, Result>[];
  private readonly waiting: SlicedQueue<PendingJob<Job, Result>>;
  private readonly hasSlices: boolean;

  constructor(settings: JobLaneSettings, parts: JobLaneParts<Job, Result>) {
    this.parts = parts;
    this.threads = Array.from({ length: settings.threads }, () => new JobThread(settings, parts, this));
    this.waiting = new SlicedQueue(settings.waitingLimit, parts.debts);
    this.hasSlices = settings.slices !== undefined;
  }

  start(): void {
    for (const thread of this.threads) thread.start();
  }

  add(pending: PendingJob<Job, Result>): void {
    this.start();
    this.waiting.add(pending)?.resolve(this.parts.busy);
    this.sendAll();
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

  /** Rejects the jobs, and terminates the workers for good. */
  async close(error: Error): Promise<void> {
    this.rejectWaiting(error);
    await Promise.all(this.threads.map((thread) => thread.close(error)));
  }

  /** Schedules the requester's waiting jobs anew, since it was charged. */
  charged(requester: Requester): void {
    this.waiting.served(requester);
  }

  charge(pending: PendingJob<Job, Result>, tookMs: number): void {
    this.waiting.spend(pending, tookMs);
    this.parts.charge(pending.requester, tookMs);
  }

  exceeded(pending: PendingJob<Job, Result>): void {
    if (!this.hasSlices || pending.hasLongSlice) {
      this.parts.exceeded(pending);
      return;
    }
    pending.hasLongSlice = true;
    this.add(pending);
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
      if (next.requester.isAbandoned()) {
        this.parts.giveUp(next);
        continue;
      }
      // Nobody waits for its end, and to begin it anew would cost more.
      if (this.waiting.size === 0 && thread.jobCount === 0) next.hasLongSlice = true;
      thread.send(next);
    }
  }

  dropAbandoned(): void {
    for (const abandoned of this.waiting.takeAbandoned()) this.parts.giveUp(abandoned);
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

  private rejectWaiting(failure: Error): void {
    for (const { reject } of this.waiting.takeAll()) reject(failure);
  }
}
