import { FairQueue } from "../primitives/fairQueue.ts";
import type { Requester } from "../primitives/requester.ts";
import type { TimeDebts } from "../primitives/timeDebts.ts";

export interface SlicedJob {
  readonly requester: Requester;
  /** Whether its next slice is a long one, because it used up a short one. */
  hasLongSlice: boolean;
}

/**
 * Jobs that wait for a short slice of time, and others that wait for a long one. For what a long slice took, short ones have three
 * times as much before the next. So a job that takes little waits for one long slice and the short ones of those before it, however
 * many jobs need more, and those wait no longer than four times as long as alone. In both queues that remote host, and then that
 * client, is next which took little time lately (timeDebts.ts).
 *
 *     add ──> short slices ──┐ by time
 *                            ├──> take
 *     add ──> long slices ───┘
 */
export class SlicedQueue<Job extends SlicedJob> {
  private readonly short: FairQueue<Job>;
  private readonly long: FairQueue<Job>;
  /** Time that short slices have before the next long one, milliseconds. */
  private creditMs = 0;

  /** `limit` is how many jobs may wait for each kind of slice. */
  constructor(limit: number, debts: TimeDebts) {
    this.short = new FairQueue(limit, debts);
    this.long = new FairQueue(limit, debts);
  }

  get size(): number {
    return this.short.size + this.long.size;
  }

  /** Adds a job. Returns the one that is dropped for it, which may be the same. */
  add(job: Job): Job | undefined {
    return (job.hasLongSlice ? this.long : this.short).add(job);
  }

  take(): Job | undefined {
    const [one, other] = this.creditMs > 0 ? [this.short, this.long] : [this.long, this.short];
    return one.take() ?? other.take();
  }

  /** Counts the time that a job had. */
  spend({ hasLongSlice }: SlicedJob, tookMs: number): void {
    const creditMs = this.creditMs + (hasLongSlice ? SHORT_PER_LONG * tookMs : -tookMs);
    this.creditMs = Math.max(0, Math.min(creditMs, HIGHEST_CREDIT_MS));
  }

  /** Schedules the requester's waiting jobs anew, since it was charged. */
  served(requester: Requester): void {
    for (const queue of [this.short, this.long]) queue.served(requester);
  }

  /** Puts jobs back at the front of their queues, like FairQueue.putBack. */
  putBack(jobs: readonly Job[], served: Requester | undefined): void {
    const isLong = ({ hasLongSlice }: Job): boolean => hasLongSlice;
    this.short.putBack(
      jobs.filter((job) => !isLong(job)),
      served,
    );
    this.long.putBack(jobs.filter(isLong), served);
  }

  takeAbandoned(): readonly Job[] {
    return [...this.short.takeAbandoned(), ...this.long.takeAbandoned()];
  }

  takeAll(): readonly Job[] {
    return [...this.short.takeAll(), ...this.long.takeAll()];
  }
}

/** Time that short slices have for each millisecond of long ones, while jobs wait for both. */
const SHORT_PER_LONG = 3;
/** Longest time that jobs with a long slice wait for others once one of them has had its slice. */
const HIGHEST_CREDIT_MS = 1000;
