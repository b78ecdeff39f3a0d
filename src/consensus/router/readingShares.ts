import type { Clock, Timer } from "../../primitives/clock.ts";

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

/** Work in steps of some µs each; free steps may be longer. */
export interface ReadingJob {
  /** The account to charge; may change after a step. */
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
  /** Part of the thread's time. */
  readonly share: number;
  /** Unused time is kept up to this bound, which also bounds the debt. */
  readonly burstMs: number;
}

/** Longest slice before the event loop runs other work. */
export const SLICE_MS = 5;
/** Queued jobs of one account. */
export const MAX_WAITING_JOBS = 64;
/** Bytes of all queued jobs; an account with an empty queue may always add one. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

interface Ledger {
  readonly account: ReadingAccount;
  leftMs: number;
  countedMs: number;
  readonly jobs: ReadingJob[];
  /** The next step of the first job. */
  next: NextStep;
}

export function createReadingShares(parts: {
  readonly clock: Clock;
  /** Runs `action` after other pending events. */
  readonly defer: (action: () => void) => void;
}): ReadingShares {
  const { clock, defer } = parts;
  const ledgers = new Map<string, Ledger>();
  /** Ledgers with jobs, in round-robin order: few, while a hundred validators have ten thousand ledgers. */
  const active = new Set<Ledger>();
  let waitingBytes = 0;
  let sliceEndMs: number | undefined;
  let isDeferred = false;
  let timer: Timer | undefined;

  function ledgerOf(account: ReadingAccount): Ledger {
    const known = ledgers.get(account.key);
    if (known !== undefined) return known;
    const opened: Ledger = {
      account,
      leftMs: account.burstMs,
      countedMs: clock.nowMs(),
      jobs: [],
      next: "charged",
    };
    ledgers.set(account.key, opened);
    return opened;
  }

  function hasTime(ledger: Ledger): boolean {
    const { share, burstMs } = ledger.account;
    const nowMs = clock.nowMs();
    ledger.leftMs = Math.min(ledger.leftMs + Math.max(nowMs - ledger.countedMs, 0) * share, burstMs);
    ledger.countedMs = nowMs;
    return ledger.leftMs > 0;
  }

  /** The end of the current slice, which is shared by all jobs that are started before the event loop continues. */
  function sliceEnd(): number {
    if (sliceEndMs === undefined) {
      sliceEndMs = clock.nowMs() + SLICE_MS;
      deferSlice();
    }
    return sliceEndMs;
  }

  /** Runs steps until the job is done, the slice is over, the account's time is used up, or the job's account changes. */
  function run(job: ReadingJob, ledger: Ledger): NextStep {
    let next = ledger.next;
    let nowMs = clock.nowMs();
    do {
      const startMs = nowMs;
      const isFree = next === "free";
      next = job.step();
      nowMs = clock.nowMs();
      if (!isFree) ledger.leftMs = Math.max(ledger.leftMs - (nowMs - startMs), -ledger.account.burstMs);
    } while (
      next !== "done" &&
      job.account.key === ledger.account.key &&
      ledger.leftMs > 0 &&
      nowMs < sliceEnd()
    );
    return next;
  }

  function enqueue(job: ReadingJob, next: NextStep, ledger: Ledger): void {
    if (ledger.jobs.length === 0) ledger.next = next;
    active.add(ledger);
    ledger.jobs.push(job);
    waitingBytes += job.bytes;
  }

  /** Runs the first job of a ledger, and moves the ledger to the end of the round-robin order. */
  function runFirst(ledger: Ledger, job: ReadingJob): void {
    active.delete(ledger);
    active.add(ledger);
    const next = run(job, ledger);
    // The last step may have caused a call of `clear`.
    if (ledger.jobs[0] !== job) return;
    ledger.next = next;
    const hasMoved = job.account.key !== ledger.account.key;
    if (next !== "done" && !hasMoved) return;
    ledger.jobs.shift();
    if (ledger.jobs.length === 0) active.delete(ledger);
    waitingBytes -= job.bytes;
    ledger.next = "charged";
    if (next !== "done") enqueue(job, next, ledgerOf(job.account));
  }

  function firstWithTime(): Ledger | undefined {
    for (const ledger of active) if (hasTime(ledger)) return ledger;
    return undefined;
  }

  function runSlice(): void {
    isDeferred = false;
    sliceEndMs = clock.nowMs() + SLICE_MS;
    while (clock.nowMs() < sliceEndMs) {
      const ledger = firstWithTime();
      const job = ledger?.jobs[0];
      if (ledger === undefined || job === undefined) break;
      runFirst(ledger, job);
    }
    sliceEndMs = undefined;
    schedule();
  }

  function deferSlice(): void {
    if (isDeferred) return;
    isDeferred = true;
    defer(runSlice);
  }

  function schedule(): void {
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const ledger of active) {
      if (hasTime(ledger)) {
        deferSlice();
        return;
      }
      soonestMs = Math.min(soonestMs, -ledger.leftMs / ledger.account.share);
    }
    if (soonestMs === Number.POSITIVE_INFINITY) return;
    timer?.cancel();
    timer = clock.at(clock.nowMs() + Math.max(1, Math.ceil(soonestMs)), runSlice);
  }

  return {
    start(job) {
      const ledger = ledgerOf(job.account);
      if (ledger.jobs.length > 0) {
        const isFull = ledger.jobs.length >= MAX_WAITING_JOBS || waitingBytes + job.bytes > MAX_WAITING_BYTES;
        if (!isFull) enqueue(job, "charged", ledger);
        return !isFull;
      }
      enqueue(job, "charged", ledger);
      if (hasTime(ledger) && clock.nowMs() < sliceEnd()) runFirst(ledger, job);
      if (waitingBytes > 0) schedule();
      return true;
    },
    clear() {
      timer?.cancel();
      timer = undefined;
      const jobs = [...active].flatMap((ledger) => ledger.jobs.splice(0));
      active.clear();
      waitingBytes = 0;
      for (const [key, ledger] of ledgers)
        if (hasTime(ledger) && ledger.leftMs >= ledger.account.burstMs) ledgers.delete(key);
      for (const job of jobs) job.dropped();
    },
  };
}

/** Runs every job to its end at once, for callers without time shares, such as tests. */
export const READ_AT_ONCE: ReadingShares = {
  start(job) {
    while (job.step() !== "done");
    return true;
  },
  clear: () => undefined,
};
