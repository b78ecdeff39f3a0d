import type { Logger } from "../../observability/logger.ts";
import { systemClock } from "../../primitives/clock.ts";

/** What one step of a long piece of work did. */
export interface Step {
  readonly number: bigint;
  readonly transactions: number;
  /** Where in the whole work it began and ended, in the unit of its total. */
  readonly from: number;
  readonly until: number;
}

/** Tells how far a piece of work is that takes long, at most once in an interval. */
export interface Progress {
  advance(step: Step): void;
  /** Passes a part of the work that needs nothing done. */
  skip(step: Pick<Step, "number" | "until">): void;
  /** What was done in all, as facts for the last line. */
  summary(): { readonly blocks: number; readonly transactions: number; readonly seconds: number };
}

/** A person watches every second; a log is kept, and five are enough for it. */
const TERMINAL_INTERVAL_MS = 1000;
const LOG_INTERVAL_MS = 5000;

/** What was done before the first step counts for the percentage, not for the speed. */
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

  function tell({ number, until }: Step, atMs: number): void {
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
      logger.info({ percent: percentOf(until), number }, "passing what is known");
      last = { atMs, blocks, transactions };
    },
    advance(step) {
      blocks++;
      transactions += step.transactions;
      firstFrom ??= step.from;
      const atMs = nowMs();
      if (atMs - last.atMs >= intervalMs) tell(step, atMs);
    },
    summary: () => ({ blocks, transactions, seconds: Number(((nowMs() - startMs) / 1000).toFixed(1)) }),
  };
}
