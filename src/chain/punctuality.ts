import type { TransactionSource } from "../execution/buildBlock.ts";
import type { SentTransaction } from "../types/transaction.ts";

/**
 * Keeps blocks on time. After its last transaction a block still has to be staged, checked and sealed by the others, and
 * written, which takes the longer the fuller it is. How long is learnt from the blocks before, whoever proposed them, as
 * a fixed part and one for each transaction, and how much longer it usually takes than that; filling ends early enough for all of it. A
 * full block after an empty one would come late by all the time that it takes, so blocks become fuller step by step.
 */
export interface Punctuality {
  /** The source, dry from the moment when one more transaction would make the block late. Gives one at least. */
  inTime(
    source: TransactionSource,
    block: { readonly startMs: number; readonly periodMs: number },
  ): TransactionSource;
  /** The next block is part of the chain now, whoever proposed it. */
  done(): void;
  /** A block of ours with so many transactions took so long from the end of its filling to the news of it. */
  learn(transactions: number, finishMs: number): void;
  /** One of another took so long from its arrival here. */
  learnOfOthers(transactions: number, sinceArrivalMs: number): void;
}

/** Share of the period that a block may take in all; the rest is for whatever else the thread has to do. */
const SHARE_OF_PERIOD = 0.8;
/** Periods from one block's being done to the next one's, where the filling can help it. */
const MOST_PERIODS_APART = 1.25;
/** Share of the period that is left for transactions, however long the fixed part takes. */
const LEAST_SHARE = 0.2;
/** How many times as late as usual a block may turn out without being late. */
const LATENESS_ALLOWED = 2;
/** How much that of the newest block counts. */
const WEIGHT_OF_NEWEST_LATENESS = 0.25;
/** Of one block, which something else may have held up. */
const MOST_LATENESS = 0.5;
/** Less than a transaction takes anywhere. */
const LEAST_EACH_MS = 0.001;
/** What is believed before anything was learnt, milliseconds, of a transaction and of what is fixed: cold code is slow. */
const FIRST_GUESS_MS = 0.25;
const FIRST_FIXED_GUESS_MS = 20;
/** How much the newest block counts. */
const WEIGHT_OF_NEWEST = 0.5;
/** One block, which something else may have held up, makes a transaction seem so many times as slow at most. */
const MOST_GROWTH = 8;
/** Before a block of another came here it was staged, sent and read: what is seen of it is less than it took. */
const UNSEEN_OF_OTHERS = 1.25;
/** The machine slept, or validators were missing: longer than that tells nothing of work, milliseconds. */
const LONGEST_MS = 10_000;

export function createPunctuality(nowMs: () => number): Punctuality {
  let fixedMs = FIRST_FIXED_GUESS_MS;
  let eachMs = FIRST_GUESS_MS;
  /** As a share of what blocks with transactions were expected to take; of one block 0 to MOST_LATENESS. */
  let usualLateness = 0;
  let lastDoneMs = Number.POSITIVE_INFINITY;

  function learn(transactions: number, finishMs: number): void {
    if (finishMs < 0 || finishMs > LONGEST_MS) return;
    const ofAllMs = eachMs * transactions;
    const expectedMs = fixedMs + ofAllMs;
    const errorMs = finishMs - expectedMs;
    const correctionMs = errorMs * WEIGHT_OF_NEWEST;
    // The larger part is the likelier to be wrong.
    if (ofAllMs <= fixedMs) fixedMs = Math.max(0, fixedMs + correctionMs);
    else eachMs = Math.min(eachMs + correctionMs / transactions, eachMs * MOST_GROWTH);
    if (transactions > 0) {
      const lateness = Math.min(MOST_LATENESS, Math.max(0, errorMs) / expectedMs);
      usualLateness += (lateness - usualLateness) * WEIGHT_OF_NEWEST_LATENESS;
    }
    // Neither part can be more than the whole.
    fixedMs = Math.min(fixedMs, finishMs);
    if (transactions > 0) eachMs = Math.max(LEAST_EACH_MS, Math.min(eachMs, finishMs / transactions));
  }

  return {
    inTime(source, { startMs, periodMs }) {
      const doneByMs = Math.min(
        startMs + periodMs * SHARE_OF_PERIOD,
        lastDoneMs + periodMs * MOST_PERIODS_APART,
      );
      const readyAtMs = Math.max(doneByMs - fixedMs, startMs + periodMs * LEAST_SHARE);
      const allowedMs = eachMs * (1 + LATENESS_ALLOWED * usualLateness);
      let taken = 0;
      return {
        next(): SentTransaction | undefined {
          if (taken > 0 && nowMs() + taken * allowedMs >= readyAtMs) return undefined;
          taken++;
          return source.next();
        },
        skipSender: () => source.skipSender(),
      };
    },
    done() {
      lastDoneMs = nowMs();
    },
    learn,
    learnOfOthers: (transactions, sinceArrivalMs) => learn(transactions, sinceArrivalMs * UNSEEN_OF_OTHERS),
  };
}
