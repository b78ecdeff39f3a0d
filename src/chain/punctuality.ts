import type { TransactionSource } from "../execution/buildBlock.ts";
import type { SentTransaction } from "../types/transaction.ts";

/**
 * Keeps blocks on time. After its last transaction a block still has to be staged, checked and sealed by the others, and
 * written, which takes the longer the fuller it is. How long is learnt from the blocks before, whoever proposed them, as
 * a fixed part and one for each transaction; filling ends early enough for both.
 */
export interface Punctuality {
  /** The source, dry from the moment when one more transaction would make the block late. Gives one at least. */
  inTime(
    source: TransactionSource,
    block: { readonly startMs: number; readonly periodMs: number },
  ): TransactionSource;
  /** A block of ours with so many transactions took so long from the end of its filling to the news of it. */
  learn(transactions: number, finishMs: number): void;
  /** One of another took so long from its arrival here. */
  learnOfOthers(transactions: number, sinceArrivalMs: number): void;
}

/** Share of the period that a block may take in all; the rest is for whatever else the thread has to do. */
const SHARE_OF_PERIOD = 0.8;
/** Share of the period that is left for transactions, however long the fixed part takes. */
const LEAST_SHARE = 0.25;
/** Below this many transactions a block teaches what is fixed; from there on, what each of them takes. */
const TELLING_TRANSACTIONS = 200;
/** Less than a transaction takes anywhere. */
const LEAST_EACH_MS = 0.001;
/** What is believed before anything was learnt, milliseconds: code that has not run yet is slow. */
const FIRST_GUESS_MS = 0.25;
/** How much the newest block counts. */
const WEIGHT_OF_NEWEST = 0.5;
/** One block, which something else may have held up, makes a transaction seem so many times as slow at most. */
const MOST_GROWTH = 8;
/** Before a block of another came here it was staged, sent and read: what is seen of it is less than it took. */
const UNSEEN_OF_OTHERS = 1.25;
/** The machine slept, or validators were missing: longer than that tells nothing of work, milliseconds. */
const LONGEST_MS = 10_000;

export function createPunctuality(nowMs: () => number): Punctuality {
  let fixedMs = 0;
  let eachMs = FIRST_GUESS_MS;

  function learn(transactions: number, finishMs: number): void {
    if (finishMs < 0 || finishMs > LONGEST_MS) return;
    const errorMs = finishMs - fixedMs - eachMs * transactions;
    const correctionMs = errorMs * WEIGHT_OF_NEWEST;
    if (transactions < TELLING_TRANSACTIONS) fixedMs = Math.max(0, fixedMs + correctionMs);
    else eachMs = Math.min(eachMs + correctionMs / transactions, eachMs * MOST_GROWTH);
    // Neither part can be more than the whole.
    fixedMs = Math.min(fixedMs, finishMs);
    if (transactions > 0) eachMs = Math.max(LEAST_EACH_MS, Math.min(eachMs, finishMs / transactions));
  }

  return {
    inTime(source, { startMs, periodMs }) {
      const spareMs = Math.max(periodMs * SHARE_OF_PERIOD - fixedMs, periodMs * LEAST_SHARE);
      const readyAtMs = startMs + spareMs;
      let taken = 0;
      return {
        next(): SentTransaction | undefined {
          if (taken > 0 && nowMs() + taken * eachMs >= readyAtMs) return undefined;
          taken++;
          return source.next();
        },
        skipSender: () => source.skipSender(),
      };
    },
    learn,
    learnOfOthers: (transactions, sinceArrivalMs) => learn(transactions, sinceArrivalMs * UNSEEN_OF_OTHERS),
  };
}
