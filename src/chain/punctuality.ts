import type { TransactionSource } from "../execution/buildBlock.ts";
import type { SentTransaction } from "../types/transaction.ts";

/**
 * Keeps blocks on time. After its last transaction a block still has to be staged, sealed and written, which takes the
 * longer the fuller it is. How long is learnt from the blocks before, and filling ends early enough for it.
 */
export interface Punctuality {
  /** The source, dry from the moment when one more transaction would make the block late. */
  inTime(
    source: TransactionSource,
    block: { readonly startMs: number; readonly periodMs: number },
  ): TransactionSource;
  /** A block of so many transactions took so long from the end of its filling to the news of it. */
  learn(transactions: number, finishMs: number): void;
}

/** Share of the period that a block may take in all; the rest is for whatever else the thread has to do. */
const SHARE_OF_PERIOD = 0.8;
/** Below this many transactions the fixed costs hide what each takes, which is that much at most. */
const TELLING_TRANSACTIONS = 200;
/** What is believed before anything was learnt, milliseconds a transaction. */
const FIRST_GUESS_MS = 0.02;
/** How much the newest block counts. */
const WEIGHT_OF_NEWEST = 0.25;

export function createPunctuality(nowMs: () => number): Punctuality {
  let finishMsEach = FIRST_GUESS_MS;
  return {
    inTime(source, { startMs, periodMs }) {
      const readyAtMs = startMs + periodMs * SHARE_OF_PERIOD;
      let taken = 0;
      return {
        next(): SentTransaction | undefined {
          if (nowMs() + taken * finishMsEach >= readyAtMs) return undefined;
          taken++;
          return source.next();
        },
        skipSender: () => source.skipSender(),
      };
    },
    learn(transactions, finishMs) {
      if (transactions === 0 || finishMs < 0) return;
      const newest = finishMs / transactions;
      if (transactions < TELLING_TRANSACTIONS) finishMsEach = Math.min(finishMsEach, newest);
      else finishMsEach += (newest - finishMsEach) * WEIGHT_OF_NEWEST;
    },
  };
}
