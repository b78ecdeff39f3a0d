import type { SentTransaction } from "../types/transaction.ts";

/** Limits how long each transaction may run in one block and how much it may log, and records those that were stopped. */
export interface TimeLimits {
  /** Milliseconds, given that the block has `leftMs` left. */
  limitMs(transaction: SentTransaction, leftMs: number): Limit;
  /** Called after a transaction was stopped at its limit and undone. Returns the reason to drop it, if any. */
  stopped(
    transaction: SentTransaction,
    times: { readonly limitMs: number; readonly tookMs: number },
  ): string | undefined;
  /**
   * Bytes that the logs of a transaction may cost (logCost.ts), given that the block has logs of `usedBytes`, and time to
   * finish `timelyBytes` more. Called before `limitMs`. Absent if gas is the only bound.
   */
  logLimitBytes?(transaction: SentTransaction, block: LogRoom): Limit;
  /** Called after a transaction with more logs was stopped and undone. Returns the reason to drop it, if any. */
  loggedTooMuch?(
    transaction: SentTransaction,
    facts: { readonly limitBytes: number; readonly neededBytes: number; readonly tookMs: number },
  ): string | undefined;
  /** Called when the source is exhausted: returns a transaction that was deferred before. */
  nextDeferred?(leftMs: number): SentTransaction | undefined;
}

/** "notNow" skips the transaction and the rest of its sender's; `dropped` is the reason why no block can have it. */
export type Limit = number | "notNow" | { readonly dropped: string };

interface LogRoom {
  readonly usedBytes: number;
  readonly timelyBytes: number;
}
