import type { TransactionSource } from "../execution/buildBlock.ts";
import type { SentTransaction } from "../types/transaction.ts";

/**
 * Keeps blocks on time. After its last transaction a block still has to be executed by the others, staged, checked, sealed
 * and written, which takes the longer the fuller it is. The others execute it in about the time that filling it took. How
 * long the rest takes is learnt from the blocks before, whoever proposed them, as a fixed part and one for each
 * transaction, and how much longer it usually takes than that; filling ends early enough for all of it, and not before.
 * What is learnt outlives the process (`timing`); where there is nothing of the kind, it is measured at the start.
 */
export interface Punctuality {
  /** The source, dry from the moment when one more transaction would make the block late. Gives one at least. */
  inTime(
    source: TransactionSource,
    block: {
      readonly startMs: number;
      readonly periodMs: number;
      /** Other validators execute it after us. */
      readonly isSharedOut: boolean;
    },
  ): TimedSource;
  /** The next block is part of the chain now, whoever proposed it. */
  done(): void;
  /**
   * A block of ours with so many transactions took so long from the end of its filling to the news of it, without what
   * the others needed to execute it.
   */
  learn(transactions: number, finishMs: number): void;
  /** One of another took so long from its arrival here, without its execution. */
  learnOfOthers(transactions: number, sinceArrivalMs: number): void;
  /** Takes over what was learnt before this run; what is absurd is not believed. */
  expect(timing: BlockTiming): void;
  /** Takes over what was measured on this machine alone, unless something was learnt: first blocks may prove it wrong. */
  guess(eachMs: number): void;
  /** What was learnt; undefined while it is a guess. */
  readonly timing: BlockTiming | undefined;
}

/** Knows how long the transactions took so far that it gave, those left out whose sender was skipped. */
export interface TimedSource extends TransactionSource {
  readonly executionMs: number;
}

/** What finishing a block takes, milliseconds. */
export interface BlockTiming {
  readonly fixedMs: number;
  readonly eachMs: number;
}

/** Share of the period that a block may take in all; the rest is for whatever else the thread has to do. */
const SHARE_OF_PERIOD = 0.8;
/**
 * Periods from one block's being done to the next one's, where several validators share the work: a full block after an
 * empty one would come later than that, and what holds one of them up as well.
 */
const MOST_PERIODS_APART = 1.5;
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
/** So many transactions at most tell something about the fixed part. */
const FEW = 50;
/** So many teach enough to fill whole blocks where others share the work. */
const MANY = 300;
/** Share of the period until then. */
const UNTRIED_SHARE = 0.4;
/** Before a block of another came here it was staged, sent and read: what is seen of it is less than it took. */
const UNSEEN_OF_OTHERS = 1.25;
/** The machine slept, or validators were missing: longer than that tells nothing of work, milliseconds. */
const LONGEST_MS = 10_000;

export function createPunctuality(nowMs: () => number): Punctuality {
  let fixedMs = FIRST_FIXED_GUESS_MS;
  let eachMs = FIRST_GUESS_MS;
  /** As a share of what blocks with transactions were expected to take; of one block 0 to MOST_LATENESS. */
  let usualLateness = 0;
  let isTried = false;
  let lastDoneMs = Number.POSITIVE_INFINITY;

  function learn(transactions: number, finishMs: number): void {
    if (finishMs < 0 || finishMs > LONGEST_MS) return;
    isTried ||= transactions >= MANY;
    const ofAllMs = eachMs * transactions;
    const expectedMs = fixedMs + ofAllMs;
    const errorMs = finishMs - expectedMs;
    const correctionMs = errorMs * WEIGHT_OF_NEWEST;
    // The larger part is the likelier to be wrong, and the fixed one is known from the many blocks that are all but empty.
    if (transactions < FEW && ofAllMs <= fixedMs) fixedMs = Math.max(0, fixedMs + correctionMs);
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
    inTime(source, { startMs, periodMs, isSharedOut }) {
      const share = isSharedOut && !isTried ? UNTRIED_SHARE : SHARE_OF_PERIOD;
      const latestMs = isSharedOut ? lastDoneMs + periodMs * MOST_PERIODS_APART : Number.POSITIVE_INFINITY;
      const doneByMs = Math.min(startMs + periodMs * share, latestMs);
      const readyAtMs = Math.max(doneByMs - fixedMs, startMs + periodMs * LEAST_SHARE);
      const allowedMs = eachMs * (1 + LATENESS_ALLOWED * usualLateness);
      let taken = 0;
      let lastGivenMs = startMs;
      let wastedMs = 0;
      return {
        next(): SentTransaction | undefined {
          lastGivenMs = nowMs();
          const othersMs = isSharedOut ? lastGivenMs - startMs - wastedMs : 0;
          if (taken > 0 && lastGivenMs + othersMs + taken * allowedMs >= readyAtMs) return undefined;
          taken++;
          return source.next();
        },
        skipSender() {
          wastedMs += nowMs() - lastGivenMs;
          source.skipSender();
        },
        get executionMs() {
          return lastGivenMs - startMs - wastedMs;
        },
      };
    },
    done() {
      lastDoneMs = nowMs();
    },
    learn,
    learnOfOthers: (transactions, sinceArrivalMs) => learn(transactions, sinceArrivalMs * UNSEEN_OF_OTHERS),
    expect(timing) {
      if (!isSound(timing)) return;
      ({ fixedMs, eachMs } = timing);
      isTried = true;
    },
    guess(measuredMs) {
      if (!isTried && isSound({ fixedMs, eachMs: measuredMs })) eachMs = measuredMs;
    },
    get timing() {
      return isTried ? { fixedMs, eachMs } : undefined;
    },
  };
}

function isSound({ fixedMs, eachMs }: BlockTiming): boolean {
  return fixedMs >= 0 && fixedMs <= LONGEST_MS && eachMs >= LEAST_EACH_MS && eachMs <= LONGEST_MS;
}
