import { type BlockTiming, TimingFilter } from "./timingFilter.ts";

/** Number of transactions with which one block suffices to learn `eachMs`. */
export const LARGE_BLOCK_TRANSACTIONS = 300;

/** Weight of the newest block in the moving average of the lateness. */
const LATENESS_WEIGHT = 0.25;
/** Upper bound of one block's lateness. */
const MAX_LATENESS = 0.5;

/** Estimates the time to finish the next block from earlier blocks (timingFilter.ts). */
export class FinishingTime implements BlockTiming {
  private readonly filter = new TimingFilter();
  private averageLateness = 0;
  private isMeasured = false;
  private isLearnt = false;

  get fixedMs(): number {
    return this.filter.fixedMs;
  }

  get eachMs(): number {
    return this.filter.eachMs;
  }

  /** Moving average of how much longer than expected blocks with transactions took, as a share of the expected time. */
  get usualLateness(): number {
    return this.averageLateness;
  }

  /** Whether `eachMs` was measured, learnt or restored; otherwise it is the initial value. */
  get isKnown(): boolean {
    return this.isMeasured || this.isLearnt;
  }

  /** The estimate to persist; undefined until a large block was observed or an earlier estimate was restored. */
  get timing(): BlockTiming | undefined {
    return this.isLearnt ? { fixedMs: this.filter.fixedMs, eachMs: this.filter.eachMs } : undefined;
  }

  /** Updates the estimate with one block. */
  learn(transactions: number, finishMs: number): void {
    this.isLearnt ||= transactions >= LARGE_BLOCK_TRANSACTIONS;
    const { innovationMs, expectedMs } = this.filter.update(transactions, finishMs);
    if (transactions === 0) return;
    const lateness = Math.min(MAX_LATENESS, Math.max(0, innovationMs) / expectedMs);
    this.averageLateness += (lateness - this.averageLateness) * LATENESS_WEIGHT;
  }

  /** Restores the estimate of an earlier run. */
  restore({ fixedMs, eachMs }: BlockTiming): void {
    this.filter.fixedMs = fixedMs;
    this.filter.setEach(eachMs);
    this.isLearnt = true;
  }

  /** Sets the estimate of a calibration, unless a learnt or restored one exists. */
  setMeasured(measuredMs: number): void {
    if (this.isLearnt) return;
    this.filter.setEach(measuredMs);
    this.isMeasured = true;
  }
}
