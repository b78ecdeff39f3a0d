/** Time to finish a block after it is filled, milliseconds: a fixed part, and a part per transaction. */
export interface BlockTiming {
  readonly fixedMs: number;
  readonly eachMs: number;
}

/** Lower bound of `eachMs`, below the time of a transaction on any machine. */
export const MIN_EACH_MS = 0.001;
/** Initial state, before anything is learnt: high, because code that is not compiled yet is slow. */
const INITIAL_EACH_MS = 0.25;
const INITIAL_FIXED_MS = 20;

/** Process noise of the fixed part: standard deviation of its change from block to block, milliseconds. */
const FIXED_DRIFT_MS = 50;
/** Process noise of the part per transaction: standard deviation of its change from block to block, as a share of `eachMs`. */
const EACH_DRIFT = 0.05;
/**
 * Standard deviation of a measured or restored `eachMs`, as a share of it. Process noise is added only below it, so that a
 * run of small blocks, which say nothing about `eachMs`, does not make it arbitrarily uncertain.
 */
const EACH_DEVIATION = 0.2;
/** Measurement noise: standard deviation of one block's time, milliseconds plus a share of the expected time. */
const NOISE_MS = 10;
const NOISE_SHARE = 0.15;
/** Positive innovations are clipped at this many standard deviations: something else may have delayed the block. */
const MAX_DEVIATIONS = 3;

/**
 * A Kalman filter for the time to finish a block.
 *
 * State: (fixedMs, eachMs), both a random walk. Observation: finishMs = fixedMs + eachMs * transactions + noise, one for
 * each block. An observation gives only the sum of both parts; the gain distributes the innovation over them by their
 * covariance. A delay of a block with few transactions therefore moves the fixed part, which varies with the load of the
 * machine, and hardly the part per transaction. Without this, a busy machine would shrink blocks for nothing.
 */
export class TimingFilter implements BlockTiming {
  fixedMs = INITIAL_FIXED_MS;
  eachMs = INITIAL_EACH_MS;
  /** Covariance matrix of the state: two variances and the covariance of both parts. */
  private fixedVariance = FIXED_DRIFT_MS ** 2;
  private eachVariance = INITIAL_EACH_MS ** 2;
  private covariance = 0;

  /** Sets a measured or restored time per transaction. */
  setEach(valueMs: number): void {
    this.eachMs = valueMs;
    this.eachVariance = (valueMs * EACH_DEVIATION) ** 2;
    this.covariance = 0;
  }

  /** Updates the state with one block; returns the expected time, and the excess over it. */
  update(
    transactions: number,
    finishMs: number,
  ): { readonly innovationMs: number; readonly expectedMs: number } {
    const { fixedMs, eachMs, covariance } = this;
    this.fixedVariance += FIXED_DRIFT_MS ** 2;
    if (this.eachVariance < (eachMs * EACH_DEVIATION) ** 2) this.eachVariance += (eachMs * EACH_DRIFT) ** 2;
    const expectedMs = fixedMs + eachMs * transactions;
    // Covariances of each part with the observed total (P H^T, with H = [1, transactions]).
    const fixedWithTotal = this.fixedVariance + transactions * covariance;
    const eachWithTotal = covariance + transactions * this.eachVariance;
    const innovationVariance =
      fixedWithTotal + transactions * eachWithTotal + (NOISE_MS + NOISE_SHARE * expectedMs) ** 2;
    const innovationMs = Math.min(finishMs - expectedMs, MAX_DEVIATIONS * Math.sqrt(innovationVariance));
    const [fixedGain, eachGain] = [fixedWithTotal / innovationVariance, eachWithTotal / innovationVariance];
    // Neither part can exceed the observed total.
    this.fixedMs = Math.min(Math.max(0, fixedMs + fixedGain * innovationMs), finishMs);
    if (transactions > 0)
      this.eachMs = Math.max(
        MIN_EACH_MS,
        Math.min(eachMs + eachGain * innovationMs, finishMs / transactions),
      );
    this.fixedVariance -= fixedGain * fixedWithTotal;
    this.eachVariance -= eachGain * eachWithTotal;
    this.covariance -= fixedGain * eachWithTotal;
    return { innovationMs, expectedMs };
  }
}
