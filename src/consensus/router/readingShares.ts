import type { Clock, Timer } from "../../primitives/clock.ts";

/**
 * A share of the thread's time for each author of consensus messages, so that the flood of one validator waits for
 * itself and nobody else does.
 *
 *     job ──> its account has time, and the turn is young? ── yes ──> steps, until it is done or the turn is old
 *                                                          └─ no ──> waits behind the account's other jobs
 *
 * What holds: jobs of one account end in the order in which they came; accounts that have time take turns; no turn is
 * longer than SLICE_MS and one step; what waits is bounded, and the newest is dropped.
 */
export interface ReadingShares {
  /** False when too much waits already. */
  start(job: ReadingJob): boolean;
  /** Nothing that waits is worth reading any more. */
  clear(): void;
}

/** Work in steps, each of some µs but where it says otherwise. */
export interface ReadingJob {
  /** Whose share it takes; may be another after a step. */
  readonly account: ReadingAccount;
  readonly bytes: number;
  /** Takes a step, and says what comes next; a free one is not charged. */
  step(): NextStep;
  /** It was given up while it waited. */
  dropped(): void;
}

export type NextStep = "done" | "charged" | "free";

export interface ReadingAccount {
  readonly key: string;
  /** Part of the thread's time. */
  readonly share: number;
  /** What of it is left over is kept, up to this; a debt is never greater. */
  readonly burstMs: number;
}

/** Longest turn before others have the thread. */
export const SLICE_MS = 5;
/** Jobs of one account that wait. */
export const MAX_WAITING_JOBS = 64;
/** Bytes of all jobs that wait; an account in which nothing waits may have one more. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

interface Ledger {
  readonly account: ReadingAccount;
  leftMs: number;
  countedMs: number;
  readonly jobs: ReadingJob[];
  /** What the job in front would do next. */
  next: NextStep;
}

export function createReadingShares(parts: {
  readonly clock: Clock;
  /** Runs `action` after what else there is to do. */
  readonly defer: (action: () => void) => void;
}): ReadingShares {
  const { clock, defer } = parts;
  const ledgers = new Map<string, Ledger>();
  /** Those with jobs, in the order of their turns: few, where a hundred validators have ten thousand ledgers. */
  const rows = new Set<Ledger>();
  let waitingBytes = 0;
  let turnEndMs: number | undefined;
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

  /** The end of the turn in which this runs: whatever is read in one go shares it. */
  function endOfTurn(): number {
    if (turnEndMs === undefined) {
      turnEndMs = clock.nowMs() + SLICE_MS;
      takeTurnLater();
    }
    return turnEndMs;
  }

  /** Takes steps until the job is done, the turn over, the time spent, or the job another account's. */
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
      nowMs < endOfTurn()
    );
    return next;
  }

  function wait(job: ReadingJob, next: NextStep, ledger: Ledger): void {
    if (ledger.jobs.length === 0) ledger.next = next;
    rows.add(ledger);
    ledger.jobs.push(job);
    waitingBytes += job.bytes;
  }

  /** The job in front of a row, which goes to the end of the rows. */
  function readFirst(ledger: Ledger, job: ReadingJob): void {
    rows.delete(ledger);
    rows.add(ledger);
    const next = run(job, ledger);
    // What the last step led to may have cleared everything.
    if (ledger.jobs[0] !== job) return;
    ledger.next = next;
    const isElsewhere = job.account.key !== ledger.account.key;
    if (next !== "done" && !isElsewhere) return;
    ledger.jobs.shift();
    if (ledger.jobs.length === 0) rows.delete(ledger);
    waitingBytes -= job.bytes;
    ledger.next = "charged";
    if (next !== "done") wait(job, next, ledgerOf(job.account));
  }

  function firstWithTime(): Ledger | undefined {
    for (const ledger of rows) if (hasTime(ledger)) return ledger;
    return undefined;
  }

  function takeTurn(): void {
    isDeferred = false;
    turnEndMs = clock.nowMs() + SLICE_MS;
    while (clock.nowMs() < turnEndMs) {
      const ledger = firstWithTime();
      const job = ledger?.jobs[0];
      if (ledger === undefined || job === undefined) break;
      readFirst(ledger, job);
    }
    turnEndMs = undefined;
    schedule();
  }

  function takeTurnLater(): void {
    if (isDeferred) return;
    isDeferred = true;
    defer(takeTurn);
  }

  function schedule(): void {
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const ledger of rows) {
      if (hasTime(ledger)) {
        takeTurnLater();
        return;
      }
      soonestMs = Math.min(soonestMs, -ledger.leftMs / ledger.account.share);
    }
    if (soonestMs === Number.POSITIVE_INFINITY) return;
    timer?.cancel();
    timer = clock.at(clock.nowMs() + Math.max(1, Math.ceil(soonestMs)), takeTurn);
  }

  return {
    start(job) {
      const ledger = ledgerOf(job.account);
      if (ledger.jobs.length > 0) {
        const isFull = ledger.jobs.length >= MAX_WAITING_JOBS || waitingBytes + job.bytes > MAX_WAITING_BYTES;
        if (!isFull) wait(job, "charged", ledger);
        return !isFull;
      }
      wait(job, "charged", ledger);
      if (hasTime(ledger) && clock.nowMs() < endOfTurn()) readFirst(ledger, job);
      if (waitingBytes > 0) schedule();
      return true;
    },
    clear() {
      timer?.cancel();
      timer = undefined;
      const jobs = [...rows].flatMap((ledger) => ledger.jobs.splice(0));
      rows.clear();
      waitingBytes = 0;
      for (const [key, ledger] of ledgers)
        if (hasTime(ledger) && ledger.leftMs >= ledger.account.burstMs) ledgers.delete(key);
      for (const job of jobs) job.dropped();
    },
  };
}

/** For those who have no threads to share, such as tests: whatever is started is done at once. */
export const READ_AT_ONCE: ReadingShares = {
  start(job) {
    while (job.step() !== "done");
    return true;
  },
  clear: () => undefined,
};
