/** Time to finish a block after it is filled, milliseconds: a fixed part, and a part per transaction. */
export interface BlockTiming {
  readonly fixedMs: number;
  readonly eachMs: number;
}

/**
 * Estimates the time to finish the next block from earlier blocks, with a Kalman filter.
 *
 * State: (fixedMs, eachMs), both a random walk. Observation: finishMs = fixedMs + eachMs * transactions + noise, one for
 * each block. An observation gives only the sum of both parts; the gain distributes the innovation over them by their
 * covariance. A delay of a block with few transactions therefore moves the fixed part, which varies with the load of the
 * machine, and hardly the part per transaction. Without this, a busy machine would shrink blocks for nothing.
 */
export interface FinishingTime extends BlockTiming {
  /** Moving average of how much longer than expected blocks with transactions took, as a share of the expected time. */
  readonly usualLateness: number;
  /** Whether `eachMs` was measured, learnt or restored; otherwise it is the initial value. */
  readonly isKnown: boolean;
  /** The estimate to persist; undefined until a large block was observed or an earlier estimate was restored. */
  readonly timing: BlockTiming | undefined;
  /** Updates the filter with one block. */
  learn(transactions: number, finishMs: number): void;
  /** Restores the estimate of an earlier run. */
  restore(timing: BlockTiming): void;
  /** Sets the estimate of a calibration, unless there is a learnt or restored one. */
  setMeasured(eachMs: number): void;
}

/** Lower bound of `eachMs`; below the time of a transaction on any machine. */
export const MIN_EACH_MS = 0.001;
/** Initial state, before anything is learnt: high, because code that is not compiled yet is slow. */
const INITIAL_EACH_MS = 0.25;
const INITIAL_FIXED_MS = 20;
/** Number of transactions from which one block suffices to learn `eachMs`. */
const LARGE_BLOCK_TRANSACTIONS = 300;

/** Process noise of the fixed part: standard deviation of its change from block to block, milliseconds. */
const FIXED_DRIFT_MS = 50;
/** Process noise of the part per transaction: the same, as a share of `eachMs`. */
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

/** Weight of the newest block in the moving average of the lateness. */
const LATENESS_WEIGHT = 0.25;
/** Upper bound of one block's lateness. */
const MAX_LATENESS = 0.5;

export function createFinishingTime(): FinishingTime {
  let fixedMs = INITIAL_FIXED_MS;
  let eachMs = INITIAL_EACH_MS;
  /** Covariance matrix of the state: two variances and the covariance of both parts. */
  let fixedVariance = FIXED_DRIFT_MS ** 2;
  let eachVariance = INITIAL_EACH_MS ** 2;
  let covariance = 0;
  let usualLateness = 0;
  let isMeasured = false;
  let isLearnt = false;

  function setEach(valueMs: number): void {
    eachMs = valueMs;
    eachVariance = (valueMs * EACH_DEVIATION) ** 2;
    covariance = 0;
  }

  function updateLateness(innovationMs: number, expectedMs: number): void {
    const lateness = Math.min(MAX_LATENESS, Math.max(0, innovationMs) / expectedMs);
    usualLateness += (lateness - usualLateness) * LATENESS_WEIGHT;
  }

  function learn(transactions: number, finishMs: number): void {
    isLearnt ||= transactions >= LARGE_BLOCK_TRANSACTIONS;
    fixedVariance += FIXED_DRIFT_MS ** 2;
    if (eachVariance < (eachMs * EACH_DEVIATION) ** 2) eachVariance += (eachMs * EACH_DRIFT) ** 2;
    const expectedMs = fixedMs + eachMs * transactions;
    // Covariances of each part with the observed total (P H^T, with H = [1, transactions]).
    const fixedWithTotal = fixedVariance + transactions * covariance;
    const eachWithTotal = covariance + transactions * eachVariance;
    const innovationVariance =
      fixedWithTotal + transactions * eachWithTotal + (NOISE_MS + NOISE_SHARE * expectedMs) ** 2;
    const innovationMs = Math.min(finishMs - expectedMs, MAX_DEVIATIONS * Math.sqrt(innovationVariance));
    const [fixedGain, eachGain] = [fixedWithTotal / innovationVariance, eachWithTotal / innovationVariance];
    if (transactions > 0) updateLateness(innovationMs, expectedMs);
    // Neither part can exceed the observed total.
    fixedMs = Math.min(Math.max(0, fixedMs + fixedGain * innovationMs), finishMs);
    if (transactions > 0)
      eachMs = Math.max(MIN_EACH_MS, Math.min(eachMs + eachGain * innovationMs, finishMs / transactions));
    fixedVariance -= fixedGain * fixedWithTotal;
    eachVariance -= eachGain * eachWithTotal;
    covariance -= fixedGain * eachWithTotal;
  }

  return {
    get fixedMs() {
      return fixedMs;
    },
    get eachMs() {
      return eachMs;
    },
    get usualLateness() {
      return usualLateness;
    },
    get isKnown() {
      return isMeasured || isLearnt;
    },
    get timing() {
      return isLearnt ? { fixedMs, eachMs } : undefined;
    },
    learn,
    restore(timing) {
      ({ fixedMs } = timing);
      setEach(timing.eachMs);
      isLearnt = true;
    },
    setMeasured(measuredMs) {
      if (isLearnt) return;
      setEach(measuredMs);
      isMeasured = true;
    },
  };
}
