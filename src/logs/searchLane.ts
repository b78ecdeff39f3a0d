import { FairQueue } from "../primitives/fairQueue.ts";
import type { Requester } from "../primitives/requester.ts";
import type { TimeDebts } from "../primitives/timeDebts.ts";

interface SearchLaneLimits {
  /** Number of searches that run at a time. */
  readonly running: number;
  /**
   * Number of further searches that may run for remote hosts without a running one, so that these do not wait for others'
   * long ones.
   */
  readonly extra: number;
  readonly waiting: number;
}

/** Limits of the lane for the first slice of each search. Each search there holds up to 2 MB. */
export const QUICK_LANE: SearchLaneLimits = { running: 4, extra: 16, waiting: 1_000 };
export const SLOW_LANE: SearchLaneLimits = { running: 32, extra: 32, waiting: 1_000 };

/** Searches that wait to start, and the number of running ones, in all and of each remote host. */
export class SearchLane<Job extends { readonly requester: Requester }> {
  private readonly limits: SearchLaneLimits;
  private readonly waiting: FairQueue<Job>;
  private readonly runningOf = new Map<string, number>();
  private running = 0;

  constructor(limits: SearchLaneLimits, debts: TimeDebts) {
    this.limits = limits;
    this.waiting = new FairQueue<Job>(limits.waiting, debts);
  }

  /**
   * Starts the search without waiting, if possible; returns whether it runs from now on. No waiting search can be startable
   * then: it would be running.
   */
  startsAtOnce(job: Job): boolean {
    if (!this.mayStart(job.requester.remoteHost)) return false;
    this.count(job, 1);
    return true;
  }

  /** Adds a waiting search. Returns the one dropped for it, which may be the same. */
  add(job: Job): Job | undefined {
    return this.waiting.add(job);
  }

  /** Takes the next search that may start, which counts as running until it has ended. */
  take(): Job | undefined {
    const job = this.waiting.take(({ remoteHost }) => this.mayStart(remoteHost));
    if (job !== undefined) this.count(job, 1);
    return job;
  }

  ended(job: Job): void {
    this.count(job, -1);
  }

  /** Reschedules the requester's waiting searches after it was charged. */
  charged(requester: Requester): void {
    this.waiting.served(requester);
  }

  takeAbandoned(): readonly Job[] {
    return this.waiting.takeAbandoned();
  }

  /** Takes all waiting jobs; afterwards nothing waits or runs. */
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
