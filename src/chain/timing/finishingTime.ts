import { type BlockTiming, TimingFilter } from "./timingFilter.ts";

/** Estimates the time to finish the next block from earlier blocks (timingFilter.ts). */
export interface FinishingTime extends BlockTiming {
  /** Moving average of how much longer than expected blocks with transactions took, as a share of the expected time. */
  readonly usualLateness: number;
  /** Whether `eachMs` was measured, learnt or restored; otherwise it is the initial value. */
  readonly isKnown: boolean;
  /** The estimate to persist; undefined until a large block was observed or an earlier estimate was restored. */
  readonly timing: BlockTiming | undefined;
  /** Updates the estimate with one block. */
  learn(transactions: number, finishMs: number): void;
  /** Restores the estimate of an earlier run. */
  restore(timing: BlockTiming): void;
  /** Sets the estimate of a calibration, unless there is a learnt or restored one. */
  setMeasured(eachMs: number): void;
}

/** Number of transactions from which one block suffices to learn `eachMs`. */
export const LARGE_BLOCK_TRANSACTIONS = 300;

/** Weight of the newest block in the moving average of the lateness. */
const LATENESS_WEIGHT = 0.25;
/** Upper bound of one block's lateness. */
const MAX_LATENESS = 0.5;

export function createFinishingTime(): FinishingTime {
  const filter = new TimingFilter();
  let usualLateness = 0;
  let isMeasured = false;
  let isLearnt = false;

  return {
    get fixedMs() {
      return filter.fixedMs;
    },
    get eachMs() {
      return filter.eachMs;
    },
    get usualLateness() {
      return usualLateness;
    },
    get isKnown() {
      return isMeasured || isLearnt;
    },
    get timing() {
      return isLearnt ? { fixedMs: filter.fixedMs, eachMs: filter.eachMs } : undefined;
    },
    learn(transactions, finishMs) {
      isLearnt ||= transactions >= LARGE_BLOCK_TRANSACTIONS;
      const { innovationMs, expectedMs } = filter.update(transactions, finishMs);
      if (transactions === 0) return;
      const lateness = Math.min(MAX_LATENESS, Math.max(0, innovationMs) / expectedMs);
      usualLateness += (lateness - usualLateness) * LATENESS_WEIGHT;
    },
    restore({ fixedMs, eachMs }) {
      filter.fixedMs = fixedMs;
      filter.setEach(eachMs);
      isLearnt = true;
    },
    setMeasured(measuredMs) {
      if (isLearnt) return;
      filter.setEach(measuredMs);
      isMeasured = true;
    },
  };
}
