/** The quantiles of Besu's timers (metrics.md#naming-rules). */
export const QUANTILES = [0.2, 0.5, 0.8, 0.95, 0.99, 1] as const;

/** The window, as in Besu: ten minutes in slices of two. */
const SLICES = 5;
const SLICE_SECONDS = 120;
/** Buckets per power of two: quantiles are off by 1.1 % at most, the maximum is exact. */
const BUCKETS_PER_OCTAVE = 32;
/** Range of the buckets: 60 nanoseconds to two hours. Values outside count in the nearest bucket. */
const LOWEST_OCTAVE = -24;
const HIGHEST_OCTAVE = 13;
const OFFSET = -LOWEST_OCTAVE * BUCKETS_PER_OCTAVE;
const LAST_BUCKET = (HIGHEST_OCTAVE - LOWEST_OCTAVE) * BUCKETS_PER_OCTAVE;

/**
 * Quantiles of durations over a sliding window. Observing a value costs a logarithm and an increment, without a clock
 * reading: it counts in the current slice, and slices are rotated only when the summary is read. A reading covers the last
 * eight to ten minutes, and always all values since the previous reading.
 */
export class WindowedSummary {
  #count = 0;
  #sum = 0;
  #current = new Slice();
  /** Earlier slices, each with the time at which it was closed, in units of SLICE_SECONDS. */
  #past: readonly { readonly slice: Slice; readonly closedAt: number }[] = [];
  #openedAt: number;

  /** `now` is in seconds, on the same clock as for `read`. */
  constructor(now: number) {
    this.#openedAt = Math.floor(now / SLICE_SECONDS);
  }

  /** Counts `times` durations whose average is `seconds`. */
  observe(seconds: number, times = 1): void {
    this.#count += times;
    this.#sum += seconds * times;
    this.#current.add(seconds, times);
  }

  /** The quantiles over the window, NaN when it is empty, and the sum and count since the start. */
  read(now: number): SummaryReading {
    const time = Math.floor(now / SLICE_SECONDS);
    // After the clock was set back, old slices must not be kept for longer.
    const isSetBack = time < this.#openedAt;
    this.#past = this.#past.filter(({ closedAt }) => !isSetBack && time - closedAt < SLICES - 1);
    const quantiles = quantilesOf([this.#current, ...this.#past.map(({ slice }) => slice)]);
    if (time !== this.#openedAt) {
      this.#past = [{ slice: this.#current, closedAt: time }, ...this.#past];
      this.#current = new Slice();
      this.#openedAt = time;
    }
    return { quantiles, sum: this.#sum, count: this.#count };
  }
}

interface SummaryReading {
  readonly quantiles: readonly number[];
  readonly sum: number;
  readonly count: number;
}

class Slice {
  readonly buckets = new Uint32Array(LAST_BUCKET + 1);
  count = 0;
  highest = 0;

  add(seconds: number, times: number): void {
    const bucket = Math.round(Math.log2(seconds) * BUCKETS_PER_OCTAVE) + OFFSET;
    const index = bucket > 0 ? Math.min(bucket, LAST_BUCKET) : 0;
    this.buckets[index] = (this.buckets[index] ?? 0) + times;
    this.count += times;
    if (seconds > this.highest) this.highest = seconds;
  }
}

function quantilesOf(slices: readonly Slice[]): readonly number[] {
  let total = 0;
  let highest = 0;
  for (const slice of slices) {
    total += slice.count;
    highest = Math.max(highest, slice.highest);
  }
  if (total === 0) return QUANTILES.map(() => Number.NaN);
  let bucket = -1;
  let counted = 0;
  return QUANTILES.map((quantile) => {
    if (quantile === 1) return highest;
    const rank = Math.ceil(quantile * total);
    while (counted < rank) {
      bucket++;
      for (const { buckets } of slices) counted += buckets[bucket] ?? 0;
    }
    return Math.min(2 ** ((bucket - OFFSET) / BUCKETS_PER_OCTAVE), highest);
  });
}
