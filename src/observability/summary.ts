/** The quantiles that the incumbent's timers give, as their label spells them (metrics.md#naming-rules). */
export const QUANTILES = [0.2, 0.5, 0.8, 0.95, 0.99, 1] as const;

/** The window, as the incumbent's: ten minutes that go two by two. */
const SLICES = 5;
const SLICE_SECONDS = 120;
/** Buckets are powers of two cut into this many: a quantile is off by 1.1 % at most, the highest is exact. */
const BUCKETS_PER_OCTAVE = 32;
/** 60 nanoseconds to two hours; what lies outside counts as the nearest. */
const LOWEST_OCTAVE = -24;
const HIGHEST_OCTAVE = 13;
const OFFSET = -LOWEST_OCTAVE * BUCKETS_PER_OCTAVE;
const LAST_BUCKET = (HIGHEST_OCTAVE - LOWEST_OCTAVE) * BUCKETS_PER_OCTAVE;

/**
 * Durations and what share of them was shorter than what. A value costs a logarithm and an increment and no clock: it
 * counts towards the present slice of time, and slices are turned only when somebody reads. So a reading covers the
 * last eight to ten minutes, and always all that came since the reading before.
 */
export class WindowedSummary {
  #count = 0;
  #sum = 0;
  #present = new Slice();
  /** Those before, each with the time in slices at which it was closed. */
  #past: readonly { readonly slice: Slice; readonly closedAt: number }[] = [];
  #openedAt: number;

  /** `now` in seconds of any clock that is also given to `read`. */
  constructor(now: number) {
    this.#openedAt = Math.floor(now / SLICE_SECONDS);
  }

  observe(seconds: number): void {
    this.#count++;
    this.#sum += seconds;
    this.#present.add(seconds);
  }

  /** Values of QUANTILES over the window, NaN when it is empty, beside the sum and count of all time. */
  read(now: number): SummaryReading {
    const time = Math.floor(now / SLICE_SECONDS);
    // A clock that was set back must not keep what is old for longer.
    const isSetBack = time < this.#openedAt;
    this.#past = this.#past.filter(({ closedAt }) => !isSetBack && time - closedAt < SLICES - 1);
    const quantiles = quantilesOf([this.#present, ...this.#past.map(({ slice }) => slice)]);
    if (time !== this.#openedAt) {
      this.#past = [{ slice: this.#present, closedAt: time }, ...this.#past];
      this.#present = new Slice();
      this.#openedAt = time;
    }
    return { quantiles, sum: this.#sum, count: this.#count };
  }
}

export interface SummaryReading {
  readonly quantiles: readonly number[];
  readonly sum: number;
  readonly count: number;
}

class Slice {
  readonly buckets = new Uint32Array(LAST_BUCKET + 1);
  count = 0;
  highest = 0;

  add(seconds: number): void {
    const bucket = Math.round(Math.log2(seconds) * BUCKETS_PER_OCTAVE) + OFFSET;
    const index = bucket > 0 ? Math.min(bucket, LAST_BUCKET) : 0;
    this.buckets[index] = (this.buckets[index] ?? 0) + 1;
    this.count++;
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
