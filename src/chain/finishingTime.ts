/** What finishing a block takes, milliseconds: a fixed part and one for each transaction. */
export interface BlockTiming {
  readonly fixedMs: number;
  readonly eachMs: number;
}

/**
 * Estimates from finished blocks what finishing the next one takes. One block tells only the sum of both parts, and a busy
 * machine makes any block late, however few transactions it has: such a delay must not be held against the transactions, or
 * blocks shrink for nothing. So this is a Kalman filter: it keeps how uncertain each part is, and what a block took more or
 * less than expected is divided by that. A block of few transactions teaches the fixed part, which changes with the load of
 * the machine; only one of many can teach the part for each.
 */
export interface FinishingTime extends BlockTiming {
  /** How much longer than expected a block with transactions usually takes, as a share of what was expected. */
  readonly usualLateness: number;
  /** What a transaction takes was measured, learnt or taken over. */
  readonly isKnown: boolean;
  /** Both parts; undefined while nothing was learnt of a block of many transactions. */
  readonly timing: BlockTiming | undefined;
  learn(transactions: number, finishMs: number): void;
  /** Takes over what an earlier run has learnt. */
  expect(timing: BlockTiming): void;
  /** Takes over what was measured on this machine alone, unless something was learnt. */
  guess(eachMs: number): void;
}

/** Less than a transaction takes anywhere. */
export const LEAST_EACH_MS = 0.001;
/** What is believed before anything was learnt: cold code is slow. */
const FIRST_EACH_MS = 0.25;
const FIRST_FIXED_MS = 20;
/** A block of so many transactions has taught what one takes. */
const MANY = 300;

/** Standard deviation of what the fixed part changes by from one block to the next, milliseconds. */
const FIXED_DRIFT_MS = 50;
/** And of the part for each, as a share of it. */
const EACH_DRIFT = 0.05;
/** Most that time adds to its uncertainty, and that of one measured or learnt before, as a share of it. */
const EACH_KNOWN_BY = 0.2;
/** What one block takes more or less by chance: milliseconds, and as a share of what was expected. */
const NOISE_MS = 10;
const NOISE_SHARE = 0.15;
/** So many standard deviations more than expected teach no more than these: something else may have held up that block. */
const MOST_DEVIATIONS = 3;

/** How much the lateness of the newest block counts. */
const WEIGHT_OF_NEWEST_LATENESS = 0.25;
/** Of one block. */
const MOST_LATENESS = 0.5;

export function createFinishingTime(): FinishingTime {
  let fixedMs = FIRST_FIXED_MS;
  let eachMs = FIRST_EACH_MS;
  /** Covariance of both parts: the two variances, and what they vary together. */
  let fixedVariance = FIXED_DRIFT_MS ** 2;
  let eachVariance = FIRST_EACH_MS ** 2;
  let shared = 0;
  let usualLateness = 0;
  let isMeasured = false;
  let isTried = false;

  function setEach(knownMs: number): void {
    eachMs = knownMs;
    eachVariance = (knownMs * EACH_KNOWN_BY) ** 2;
    shared = 0;
  }

  function noteLateness(errorMs: number, expectedMs: number): void {
    const lateness = Math.min(MOST_LATENESS, Math.max(0, errorMs) / expectedMs);
    usualLateness += (lateness - usualLateness) * WEIGHT_OF_NEWEST_LATENESS;
  }

  function learn(count: number, finishMs: number): void {
    isTried ||= count >= MANY;
    fixedVariance += FIXED_DRIFT_MS ** 2;
    if (eachVariance < (eachMs * EACH_KNOWN_BY) ** 2) eachVariance += (eachMs * EACH_DRIFT) ** 2;
    const expectedMs = fixedMs + eachMs * count;
    const ofFixed = fixedVariance + count * shared;
    const ofEach = shared + count * eachVariance;
    const variance = ofFixed + count * ofEach + (NOISE_MS + NOISE_SHARE * expectedMs) ** 2;
    const errorMs = Math.min(finishMs - expectedMs, MOST_DEVIATIONS * Math.sqrt(variance));
    const [fixedGain, eachGain] = [ofFixed / variance, ofEach / variance];
    if (count > 0) noteLateness(errorMs, expectedMs);
    // Neither part can be more than the whole.
    fixedMs = Math.min(Math.max(0, fixedMs + fixedGain * errorMs), finishMs);
    if (count > 0) eachMs = Math.max(LEAST_EACH_MS, Math.min(eachMs + eachGain * errorMs, finishMs / count));
    fixedVariance -= fixedGain * ofFixed;
    eachVariance -= eachGain * ofEach;
    shared -= fixedGain * ofEach;
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
      return isMeasured || isTried;
    },
    get timing() {
      return isTried ? { fixedMs, eachMs } : undefined;
    },
    learn,
    expect(timing) {
      ({ fixedMs } = timing);
      setEach(timing.eachMs);
      isTried = true;
    },
    guess(measuredMs) {
      if (isTried) return;
      setEach(measuredMs);
      isMeasured = true;
    },
  };
}
