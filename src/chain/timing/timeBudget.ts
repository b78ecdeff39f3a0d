import type { TransactionSource } from "../../execution/buildBlock.ts";
import type { CoreContention, ThreadTimes } from "./coreContention.ts";
import { FinishingTime, LARGE_BLOCK_TRANSACTIONS } from "./finishingTime.ts";
import { createTimedSource, type SourceClocks, type TimedSource } from "./timedSource.ts";
import { type BlockTiming, MIN_EACH_MS } from "./timingFilter.ts";

/**
 * Share of the period that a block may take in all; the rest is for other work of the thread. With other validators the rest
 * also serves to exchange the transactions that the next proposer includes: a block that took all of it would leave the next
 * one nothing, and full and empty blocks would alternate, unevenly.
 */
const SHARE_ALONE = 0.75;
const SHARE_WITH_OTHERS = 0.7;
/**
 * Most periods from one commit to the next with other validators. It limits a full block after an empty one, and a block
 * after any delay.
 */
const MAX_PERIODS_APART = 1.15;
/**
 * The same for transactions of large effects without other validators. A block has few of them, so that blocks of one and of
 * two would otherwise alternate, unevenly; small transactions fill each block alike.
 */
const MAX_PERIODS_APART_ALONE = 1.2;
/**
 * Time after a large block of this node during which the estimate follows only its own blocks. Blocks of the node that
 * callers send transactions to take longer than those of others, which have yet to recover many of the senders.
 */
const OWN_BLOCKS_COUNT_MS = 60_000;
/** Minimum share of the period for filling, however long the fixed part takes. */
const MIN_FILLING_SHARE = 0.2;
/** Safety factor on the usual lateness: a block this many times as late as usual still fits. */
const LATENESS_ALLOWED = 2;
/** Share of the period with other validators, until the time per transaction is measured or learnt. */
const UNKNOWN_COST_SHARE = 0.4;
/** Factor on the time observed for another validator's block, which was also staged, sent and read before it arrived here. */
const UNSEEN_FACTOR = 1.25;
/** Weight of the newest block in the moving average of how much of the slowdown lasts. */
const LASTING_WEIGHT = 0.25;
/** Least slowdown before filling that shows how much of it lasts. */
const TELLING_SLOWDOWN = 1.1;
/** Minimum time between two marks at commits, milliseconds: a sync commits thousands of blocks a second. */
const MIN_BETWEEN_MARKS_MS = 100;
/** Longest time that counts, milliseconds: beyond it, the machine slept, or validators were missing. */
const MAX_FINISH_MS = 10_000;

/**
 * Decides when to stop filling a block, so that it is committed within its period. A filled block still has to be executed
 * by the other validators, staged, checked, sealed and written, and all of this takes longer the fuller the block is. Other
 * validators need about as long to execute it as filling it took CPU time here. The rest is estimated from earlier blocks of
 * all proposers (finishingTime.ts), as the time on free cores; the time since the last commit shows how busy the cores are
 * (coreContention.ts), and a lone validator expects as much of that slowdown as lasted through earlier blocks. A transaction
 * with many logs or changes of the state counts as several (execution/effectCost.ts).
 *
 * The learnt estimate is persisted (`timing`); without one, a calibration measures it at the start (calibration.ts).
 */
export class BlockTimeBudget {
  private readonly parts: SourceClocks & { readonly contention: CoreContention };
  private readonly finishing = new FinishingTime();
  /** Thread times at the last commit, or less than MIN_BETWEEN_MARKS_MS before it. */
  private commitMark: ThreadTimes | undefined;
  /** Slowdown between the last two commits; the filling of the next block may begin too soon after a commit to measure one. */
  private lastSlowdown = 1;
  /** Slowdown measured before the current block was filled. */
  private slowdownBefore = 1;
  /**
   * Share of the slowdown before filling that lasts while a block is finished. In between, this thread runs for moments and
   * waits for a core at the beginning of each; a block is one long piece of work. Other validators' threads may wait as
   * well, unobserved: with other validators, all of the slowdown counts.
   */
  private lasting = 1;
  private markedMs = Number.NEGATIVE_INFINITY;
  private lastCommitMs = Number.POSITIVE_INFINITY;
  private ownLargeBlockMs = Number.NEGATIVE_INFINITY;

  constructor(parts: SourceClocks & { readonly contention: CoreContention }) {
    this.parts = parts;
    const { contention } = parts;
    this.commitMark = contention.mark();
  }

  /** Wraps a source so that it ends as soon as one more transaction would make the block late. It yields at least one. */
  limit(
    source: TransactionSource,
    {
      startMs,
      periodMs,
      hasOtherValidators,
    }: {
      readonly startMs: number;
      readonly periodMs: number;
      /** Whether other validators have to execute the block after this node. */
      readonly hasOtherValidators: boolean;
    },
  ): TimedSource {
    const { fixedMs, eachMs, usualLateness, isKnown } = this.finishing;
    const shareEndMs = startMs + periodMs * shareOf({ hasOtherValidators, isKnown });
    const evenMs =
      this.lastCommitMs + periodMs * (hasOtherValidators ? MAX_PERIODS_APART : MAX_PERIODS_APART_ALONE);
    const commitByMs = hasOtherValidators ? Math.min(shareEndMs, evenMs) : shareEndMs;
    this.slowdownBefore = this.parts.contention.slowdownSince(this.commitMark) ?? this.lastSlowdown;
    const slowdown = hasOtherValidators ? this.slowdownBefore : 1 + (this.slowdownBefore - 1) * this.lasting;
    const filledBy = (byMs: number): number =>
      Math.max(byMs - fixedMs * slowdown, startMs + periodMs * MIN_FILLING_SHARE);
    const [filledByMs, largeByMs] = [filledBy(commitByMs), filledBy(Math.min(commitByMs, evenMs))];
    const allowedEachMs = eachMs * (1 + LATENESS_ALLOWED * usualLateness) * slowdown;
    return createTimedSource(
      source,
      { startMs, filledByMs, largeByMs, allowedEachMs, hasOtherValidators },
      this.parts,
    );
  }

  /** Called after each commit of a block, ours or another validator's. */
  onCommitted(): void {
    const { contention } = this.parts;
    this.lastCommitMs = this.parts.nowMs();
    if (Math.abs(this.lastCommitMs - this.markedMs) < MIN_BETWEEN_MARKS_MS) return;
    this.markedMs = this.lastCommitMs;
    this.lastSlowdown = contention.slowdownSince(this.commitMark) ?? 1 + (this.lastSlowdown - 1) / 2;
    this.commitMark = contention.mark();
  }

  /**
   * Learns from a block of ours with this load, in usual transactions (execution/effectCost.ts): `finishMs` is the time from
   * the end of filling to the commit, less the estimated execution time of the other validators. It is divided by the
   * slowdown meanwhile, if that is known.
   */
  learn(load: number, finishMs: number, slowdown?: number): void {
    this.learnFinishing(load, finishMs);
    if (load < LARGE_BLOCK_TRANSACTIONS) return;
    this.ownLargeBlockMs = this.parts.nowMs();
    if (slowdown === undefined || this.slowdownBefore < TELLING_SLOWDOWN) return;
    const lasted = Math.min(1, (slowdown - 1) / (this.slowdownBefore - 1));
    this.lasting += (lasted - this.lasting) * LASTING_WEIGHT;
  }

  /**
   * Learns from another validator's block: the time from its arrival to the commit, less its execution here, divided by the
   * slowdown meanwhile. Ignored while blocks of ours are more informative.
   */
  learnFromOthers(load: number, sinceArrivalMs: number): void {
    if (this.parts.nowMs() - this.ownLargeBlockMs > OWN_BLOCKS_COUNT_MS)
      this.learnFinishing(load, sinceArrivalMs * UNSEEN_FACTOR);
  }

  /** Restores what an earlier run learnt; ignores values out of bounds. */
  restore(timing: BlockTiming): void {
    if (isPlausible(timing)) this.finishing.restore(timing);
  }

  /** Sets the calibrated time per transaction, unless one was learnt. Blocks then correct it. */
  setMeasured(eachMs: number): void {
    if (isPlausible({ fixedMs: 0, eachMs })) this.finishing.setMeasured(eachMs);
  }

  /** The learnt estimate; undefined while only an initial or calibrated one exists. */
  get timing(): BlockTiming | undefined {
    return this.finishing.timing;
  }

  private learnFinishing(load: number, finishMs: number): void {
    if (finishMs >= 0 && finishMs <= MAX_FINISH_MS) this.finishing.learn(load, finishMs);
  }
}

function shareOf({ hasOtherValidators, isKnown }: { hasOtherValidators: boolean; isKnown: boolean }): number {
  if (!hasOtherValidators) return SHARE_ALONE;
  return isKnown ? SHARE_WITH_OTHERS : UNKNOWN_COST_SHARE;
}

function isPlausible({ fixedMs, eachMs }: BlockTiming): boolean {
  return fixedMs >= 0 && fixedMs <= MAX_FINISH_MS && eachMs >= MIN_EACH_MS && eachMs <= MAX_FINISH_MS;
}
