import type { Logger } from "../../observability/logger.ts";
import { systemClock } from "../../primitives/clock.ts";

/** One step of a long piece of work. */
interface Step {
  readonly number: bigint;
  readonly transactions: number;
  /** Where the step begins and ends, in the unit of the total. */
  readonly from: number;
  readonly until: number;
}

/** Intervals of progress lines: shorter on a terminal than in a log file. */
const TERMINAL_INTERVAL_MS = 1000;
const LOG_INTERVAL_MS = 5000;

interface ProgressParts {
  readonly message: string;
  readonly total: number;
  readonly isTerminal: boolean;
}

/** Logs the progress of a long piece of work, at most once per interval. */
export class Progress {
  private readonly work: ProgressParts;
  private readonly logger: Logger;
  private readonly nowMs: () => number;
  private readonly startMs: number;
  private readonly intervalMs: 1000 | 5000;
  private blocks = 0;
  private transactions = 0;
  private firstFrom: number | undefined;
  private last: { atMs: number; blocks: number; transactions: number };

  /** Skipped blocks count for the percentage, but not for the speed. */
  constructor(work: ProgressParts, logger: Logger, nowMs: () => number = systemClock.nowMs) {
    this.work = work;
    this.logger = logger;
    this.nowMs = nowMs;
    this.startMs = nowMs();
    this.intervalMs = work.isTerminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS;
    this.last = { atMs: this.startMs, blocks: 0, transactions: 0 };
  }

  /** Advances over known blocks, which need no work. */
  skip({ number, until }: Pick<Step, "number" | "until">): void {
    const atMs = this.nowMs();
    if (atMs - this.last.atMs < this.intervalMs) return;
    this.logger.info({ percent: this.percentOf(until), number }, "skipping known blocks");
    this.last = { atMs, blocks: this.blocks, transactions: this.transactions };
  }

  advance(step: Step): void {
    this.blocks++;
    this.transactions += step.transactions;
    this.firstFrom ??= step.from;
    const atMs = this.nowMs();
    if (atMs - this.last.atMs >= this.intervalMs) this.log(step, atMs);
  }

  /** Totals for the final log line. */
  summary(): { readonly blocks: number; readonly transactions: number; readonly seconds: number } {
    return {
      blocks: this.blocks,
      transactions: this.transactions,
      seconds: Number(((this.nowMs() - this.startMs) / 1000).toFixed(1)),
    };
  }

  private log({ number, until }: Step, atMs: number): void {
    const seconds = (atMs - this.last.atMs) / 1000;
    const doneHere = until - (this.firstFrom ?? 0);
    const secondsLeft = ((atMs - this.startMs) / 1000) * ((this.work.total - until) / Math.max(1, doneHere));
    this.logger.info(
      {
        percent: this.percentOf(until),
        number,
        blocksPerSecond: Number(((this.blocks - this.last.blocks) / seconds).toFixed(1)),
        transactionsPerSecond: Math.round((this.transactions - this.last.transactions) / seconds),
        secondsLeft: Math.round(secondsLeft),
      },
      this.work.message,
    );
    this.last = { atMs, blocks: this.blocks, transactions: this.transactions };
  }

  private percentOf(until: number): number {
    return Number(((100 * until) / Math.max(1, this.work.total)).toFixed(1));
  }
}
