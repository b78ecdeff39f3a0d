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

/** Logs the progress of a long piece of work, at most once per interval. */
export interface Progress {
  advance(step: Step): void;
  /** Advances over known blocks, which need no work. */
  skip(step: Pick<Step, "number" | "until">): void;
  /** Totals for the final log line. */
  summary(): { readonly blocks: number; readonly transactions: number; readonly seconds: number };
}

/** Intervals of progress lines: shorter on a terminal than in a log file. */
const TERMINAL_INTERVAL_MS = 1000;
const LOG_INTERVAL_MS = 5000;

/** Skipped blocks count for the percentage, but not for the speed. */
export function createProgress(
  work: { readonly message: string; readonly total: number; readonly isTerminal: boolean },
  logger: Logger,
  nowMs: () => number = systemClock.nowMs,
): Progress {
  const startMs = nowMs();
  const intervalMs = work.isTerminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS;
  let blocks = 0;
  let transactions = 0;
  let firstFrom: number | undefined;
  let last = { atMs: startMs, blocks: 0, transactions: 0 };

  function log({ number, until }: Step, atMs: number): void {
    const seconds = (atMs - last.atMs) / 1000;
    const doneHere = until - (firstFrom ?? 0);
    const secondsLeft = ((atMs - startMs) / 1000) * ((work.total - until) / Math.max(1, doneHere));
    logger.info(
      {
        percent: percentOf(until),
        number,
        blocksPerSecond: Number(((blocks - last.blocks) / seconds).toFixed(1)),
        transactionsPerSecond: Math.round((transactions - last.transactions) / seconds),
        secondsLeft: Math.round(secondsLeft),
      },
      work.message,
    );
    last = { atMs, blocks, transactions };
  }

  const percentOf = (until: number): number => Number(((100 * until) / Math.max(1, work.total)).toFixed(1));

  return {
    skip({ number, until }) {
      const atMs = nowMs();
      if (atMs - last.atMs < intervalMs) return;
      logger.info({ percent: percentOf(until), number }, "skipping known blocks");
      last = { atMs, blocks, transactions };
    },
    advance(step) {
      blocks++;
      transactions += step.transactions;
      firstFrom ??= step.from;
      const atMs = nowMs();
      if (atMs - last.atMs >= intervalMs) log(step, atMs);
    },
    summary: () => ({ blocks, transactions, seconds: Number(((nowMs() - startMs) / 1000).toFixed(1)) }),
  };
}
