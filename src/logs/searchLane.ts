import { FairQueue } from "../primitives/fairQueue.ts";
import type { Requester } from "../primitives/requester.ts";
import type { TimeDebts } from "../primitives/timeDebts.ts";

export interface SearchLaneLimits {
  /** Searches that run at a time. */
  readonly running: number;
  /**
   * Searches that may run in addition, of remote hosts without a running one, so that those do not wait for long ones of others.
   */
  readonly extra: number;
  readonly waiting: number;
}

/** Limits of the lane for the first slice of each search. Searches there hold up to 2 MB each. */
export const QUICK_LANE: SearchLaneLimits = { running: 4, extra: 16, waiting: 1_000 };
export const SLOW_LANE: SearchLaneLimits = { running: 32, extra: 32, waiting: 1_000 };

/** Searches that wait to be started, and how many run, in all and of each remote host. */
export class SearchLane<Job extends { readonly requester: Requester }> {
  private readonly limits: SearchLaneLimits;
  private readonly waiting: FairQueue<Job>;
  private readonly runningOf = new Map<string, number>();
  private running = 0;

  constructor(limits: SearchLaneLimits, debts: TimeDebts) {
    this.limits = limits;
    this.waiting = new FairQueue<Job>(limits.waiting, debts);
  }

  /** Whether the search starts without waiting, and runs from now on. None of those that wait may start then: they would run. */
  startsAtOnce(job: Job): boolean {
    if (!this.mayStart(job.requester.remoteHost)) return false;
    this.count(job, 1);
    return true;
  }

  /** Adds a search that waits. Returns the one that is dropped for it, which may be the same. */
  add(job: Job): Job | undefined {
    return this.waiting.add(job);
  }

  /** The next search that may start, which runs from now on until it has ended. */
  take(): Job | undefined {
    const job = this.waiting.take(({ remoteHost }) => this.mayStart(remoteHost));
    if (job !== undefined) this.count(job, 1);
    return job;
  }

  ended(job: Job): void {
    this.count(job, -1);
  }

  /** Schedules the requester's waiting searches anew, since it was charged. */
  charged(requester: Requester): void {
    this.waiting.served(requester);
  }

  takeAbandoned(): readonly Job[] {
    return this.waiting.takeAbandoned();
  }

  /** Takes all waiting jobs; afterwards nothing waits or runs any more. */
  takeAll(): readonly Job[] {
    this.running = 0;
    this.runningOf.clear();
    return this.waiting.takeAll();
  }

  private mayStart(remoteHost: string): boolean {
    const { running, extra } = this.limits;
    if (this.running < running) return true;
    return this.running < running + extra && !this.runningOf.has(remoteHost);
  }

  private count({ requester: { remoteHost } }: Job, by: number): void {
    this.running += by;
    const ofHost = (this.runningOf.get(remoteHost) ?? 0) + by;
    if (ofHost === 0) this.runningOf.delete(remoteHost);
    else this.runningOf.set(remoteHost, ofHost);
  }
}
