import type { TransactionSource } from "../execution/buildBlock.ts";
import type { SentTransaction } from "../types/transaction.ts";
import { type BlockTiming, createFinishingTime, LEAST_EACH_MS } from "./finishingTime.ts";

export type { BlockTiming } from "./finishingTime.ts";

/**
 * Keeps blocks on time. After its last transaction a block still has to be executed by the others, staged, checked, sealed
 * and written, which takes the longer the fuller it is. The others execute it in about the time of a processor that filling
 * it took. How long the rest takes is estimated from the blocks before, whoever proposed them (finishingTime.ts); filling
 * ends early enough for all of it, and not before.
 * What is learnt outlives the process (`timing`); where there is nothing of the kind, it is measured at the start.
 */
export interface BlockTimeBudget {
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

export interface PunctualityParts {
  nowMs(): number;
  /** What this process has used of the processors, milliseconds; absent where only the time is known. */
  readonly cpuMs?: (() => number) | undefined;
}

/** Knows how long the transactions took so far that it gave, those left out whose sender was skipped. */
export interface TimedSource extends TransactionSource {
  readonly executionMs: number;
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
/** Share of the period for blocks that others share in until a transaction's cost was measured or learnt. */
const UNTRIED_SHARE = 0.4;
/** What the process has used of the processors is asked for so often, milliseconds, and not for each of ten thousand transfers. */
const CPU_LOOK_MS = 5;
/** Before a block of another came here it was staged, sent and read: what is seen of it is less than it took. */
const UNSEEN_OF_OTHERS = 1.25;
/** The machine slept, or validators were missing: longer than that tells nothing of work, milliseconds. */
const LONGEST_MS = 10_000;

export function createBlockTimeBudget({ nowMs, cpuMs }: PunctualityParts): BlockTimeBudget {
  const finishing = createFinishingTime();
  let lastDoneMs = Number.POSITIVE_INFINITY;

  function learn(transactions: number, finishMs: number): void {
    if (finishMs >= 0 && finishMs <= LONGEST_MS) finishing.learn(transactions, finishMs);
  }

  return {
    inTime(source, { startMs, periodMs, isSharedOut }) {
      const { fixedMs, eachMs, usualLateness, isKnown } = finishing;
      const share = isSharedOut && !isKnown ? UNTRIED_SHARE : SHARE_OF_PERIOD;
      const latestMs = isSharedOut ? lastDoneMs + periodMs * MOST_PERIODS_APART : Number.POSITIVE_INFINITY;
      const doneByMs = Math.min(startMs + periodMs * share, latestMs);
      const readyAtMs = Math.max(doneByMs - fixedMs, startMs + periodMs * LEAST_SHARE);
      const allowedMs = eachMs * (1 + LATENESS_ALLOWED * usualLateness);
      const begunCpuMs = cpuMs?.() ?? 0;
      let taken = 0;
      let lastGivenMs = startMs;
      let wastedMs = 0;
      let usedMs = 0;
      let lookedMs = startMs;

      /** What others need for it: not the time in which other processes had our processor. */
      function executionMs(): number {
        const durationMs = lastGivenMs - startMs - wastedMs;
        if (cpuMs === undefined) return durationMs;
        if (lastGivenMs - lookedMs >= CPU_LOOK_MS) {
          usedMs = cpuMs() - begunCpuMs;
          lookedMs = lastGivenMs;
        }
        return Math.min(durationMs, usedMs + lastGivenMs - lookedMs);
      }

      return {
        next(): SentTransaction | undefined {
          lastGivenMs = nowMs();
          const othersMs = isSharedOut ? executionMs() : 0;
          if (taken > 0 && lastGivenMs + othersMs + taken * allowedMs >= readyAtMs) return undefined;
          taken++;
          return source.next();
        },
        skipSender() {
          wastedMs += nowMs() - lastGivenMs;
          source.skipSender();
        },
        get executionMs() {
          return executionMs();
        },
      };
    },
    done() {
      lastDoneMs = nowMs();
    },
    learn,
    learnOfOthers: (transactions, sinceArrivalMs) => learn(transactions, sinceArrivalMs * UNSEEN_OF_OTHERS),
    expect(timing) {
      if (isSound(timing)) finishing.expect(timing);
    },
    guess(eachMs) {
      if (isSound({ fixedMs: 0, eachMs })) finishing.guess(eachMs);
    },
    get timing() {
      return finishing.timing;
    },
  };
}

function isSound({ fixedMs, eachMs }: BlockTiming): boolean {
  return fixedMs >= 0 && fixedMs <= LONGEST_MS && eachMs >= LEAST_EACH_MS && eachMs <= LONGEST_MS;
}
