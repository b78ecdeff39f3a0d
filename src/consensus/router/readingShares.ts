import type { Clock, Timer } from "../../primitives/clock.ts";
import { TokenBucket } from "../../primitives/tokenBucket.ts";

/**
 * Gives each author of consensus messages a share of the thread's time, so that a flood from one validator delays only that
 * validator's messages.
 *
 *     job ──> account has time, and time is left in the slice? ── yes ──> steps, until it is done or the slice is over
 *                                                              └─ no ──> queued behind the account's other jobs
 *
 * Invariants: jobs of one account end in order of arrival; accounts with time left are served round-robin; a slice is at
 * most SLICE_MS and one step long; queues are bounded, and the newest job is dropped.
 */
export interface ReadingShares {
  /** False when the queue is full. */
  start(job: ReadingJob): boolean;
  /** Drops all queued jobs. */
  clear(): void;
}

/** Work in steps of some µs each; free steps may take longer. */
export interface ReadingJob {
  /** The account to charge, which may change after a step. */
  readonly account: ReadingAccount;
  readonly bytes: number;
  /** Runs a step and returns what the next one is; a free step is not charged. */
  step(): NextStep;
  /** Called when the job is dropped from the queue. */
  dropped(): void;
}

export type NextStep = "done" | "charged" | "free";

export interface ReadingAccount {
  readonly key: string;
  /** Share of the thread's time. */
  readonly share: number;
  /** Most unused time that is kept, and largest debt. */
  readonly burstMs: number;
}

/** Longest slice before the event loop runs other work. */
export const SLICE_MS = 5;
/** Most queued jobs of one account. */
export const MAX_WAITING_JOBS = 64;
/** Most bytes of all queued jobs; an account with an empty queue may always add one. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

interface ReadingSharesParts {
  readonly clock: Clock;
  /** Runs `action` after other pending events. */
  readonly defer: (action: () => void) => void;
}

/** The time of an account, and its jobs in order of arrival. */
interface Ledger {
  readonly account: ReadingAccount;
  readonly timeMs: TokenBucket;
  readonly jobs: ReadingJob[];
  /** The next step of the first job. */
  next: NextStep;
}

export class ReadingScheduler implements ReadingShares {
  private readonly clock: Clock;
  private readonly defer: (action: () => void) => void;
  private readonly ledgers = new Map<string, Ledger>();
  /** Ledgers with jobs, in round-robin order: they are few, while a hundred validators have ten thousand ledgers. */
  private readonly active = new Set<Ledger>();
  private waitingBytes = 0;
  private sliceEndMs: number | undefined;
  private isDeferred = false;
  private timer: Timer | undefined;

  constructor({ clock, defer }: ReadingSharesParts) {
    this.clock = clock;
    this.defer = defer;
  }

  start(job: ReadingJob): boolean {
    const ledger = this.ledgerOf(job.account);
    if (ledger.jobs.length > 0) {
      const isFull =
        ledger.jobs.length >= MAX_WAITING_JOBS || this.waitingBytes + job.bytes > MAX_WAITING_BYTES;
      if (!isFull) this.enqueue(job, "charged", ledger);
      return !isFull;
    }
    this.enqueue(job, "charged", ledger);
    if (this.hasTime(ledger) && this.clock.nowMs() < this.sliceEnd()) this.runFirst(ledger, job);
    if (this.waitingBytes > 0) this.schedule();
    return true;
  }

  clear(): void {
    this.timer?.cancel();
    this.timer = undefined;
    const jobs = [...this.active].flatMap((ledger) => ledger.jobs.splice(0));
    this.active.clear();
    this.waitingBytes = 0;
    // A full ledger equals a new one.
    for (const [key, { account, timeMs }] of this.ledgers)
      if (timeMs.refill(this.clock.nowMs()) >= account.burstMs) this.ledgers.delete(key);
    for (const job of jobs) job.dropped();
  }

  private ledgerOf(account: ReadingAccount): Ledger {
    const known = this.ledgers.get(account.key);
    if (known !== undefined) return known;
    const { share, burstMs } = account;
    const limits = { capacity: burstMs, perMs: share, maxDebt: burstMs };
    const timeMs = new TokenBucket(limits, this.clock.nowMs());
    const opened: Ledger = { account, timeMs, jobs: [], next: "charged" };
    this.ledgers.set(account.key, opened);
    return opened;
  }

  private hasTime({ timeMs }: Ledger): boolean {
    return timeMs.refill(this.clock.nowMs()) > 0;
  }

  private enqueue(job: ReadingJob, next: NextStep, ledger: Ledger): void {
    if (ledger.jobs.length === 0) ledger.next = next;
    this.active.add(ledger);
    ledger.jobs.push(job);
    this.waitingBytes += job.bytes;
  }

  /** Runs the first job of a ledger, and moves the ledger to the end of the round-robin order. */
  private runFirst(ledger: Ledger, job: ReadingJob): void {
    this.active.delete(ledger);
    this.active.add(ledger);
    const next = this.run(job, ledger);
    // The last step may have caused a call of `clear`.
    if (ledger.jobs[0] !== job) return;
    ledger.next = next;
    const hasMoved = job.account.key !== ledger.account.key;
    if (next !== "done" && !hasMoved) return;
    ledger.jobs.shift();
    if (ledger.jobs.length === 0) this.active.delete(ledger);
    this.waitingBytes -= job.bytes;
    ledger.next = "charged";
    if (next !== "done") this.enqueue(job, next, this.ledgerOf(job.account));
  }

  /** Runs steps until the job is done, the slice is over, the account's time is used up, or the job's account changes. */
  private run(job: ReadingJob, { account, timeMs, next: first }: Ledger): NextStep {
    let next = first;
    let nowMs = this.clock.nowMs();
    do {
      const startMs = nowMs;
      const isFree = next === "free";
      next = job.step();
      nowMs = this.clock.nowMs();
      if (!isFree) timeMs.spend(nowMs - startMs);
    } while (
      next !== "done" &&
      job.account.key === account.key &&
      timeMs.left > 0 &&
      nowMs < this.sliceEnd()
    );
    return next;
  }

  /** The end of the current slice, which is shared by all jobs that are started before the event loop continues. */
  private sliceEnd(): number {
    if (this.sliceEndMs === undefined) {
      this.sliceEndMs = this.clock.nowMs() + SLICE_MS;
      this.deferSlice();
    }
    return this.sliceEndMs;
  }

  private deferSlice(): void {
    if (this.isDeferred) return;
    this.isDeferred = true;
    this.defer(this.runSlice);
  }

  private readonly runSlice = (): void => {
    this.isDeferred = false;
    this.sliceEndMs = this.clock.nowMs() + SLICE_MS;
    while (this.clock.nowMs() < this.sliceEndMs) {
      const ledger = this.firstWithTime();
      const job = ledger?.jobs[0];
      if (ledger === undefined || job === undefined) break;
      this.runFirst(ledger, job);
    }
    this.sliceEndMs = undefined;
    this.schedule();
  };

  private firstWithTime(): Ledger | undefined {
    for (const ledger of this.active) if (this.hasTime(ledger)) return ledger;
    return undefined;
  }

  private schedule(): void {
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const ledger of this.active) {
      if (this.hasTime(ledger)) {
        this.deferSlice();
        return;
      }
      soonestMs = Math.min(soonestMs, ledger.timeMs.waitMs);
    }
    if (soonestMs === Number.POSITIVE_INFINITY) return;
    this.timer?.cancel();
    this.timer = this.clock.at(this.clock.nowMs() + Math.max(1, Math.ceil(soonestMs)), this.runSlice);
  }
}
