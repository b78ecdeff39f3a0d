/**
 * An allowance that refills with time, up to a capacity; each use spends some of it. The caller passes the time, on any
 * clock: a time before the last one adds nothing, and the bucket refills from there.
 */
export interface TokenBucket {
  /** Adds what the time since the last refill allows, and returns what is left. */
  refill(nowMs: number): number;
  /** What was left after the last call; negative while in debt. */
  readonly left: number;
  /** Takes `amount` without a refill, down to the largest debt; a negative amount is given back. */
  spend(amount: number): void;
  /** Milliseconds after the last refill until the bucket is out of debt; 0 or less when it is not in debt. */
  readonly waitMs: number;
}

export interface TokenBucketLimits {
  /** Unused allowance accumulates up to this. */
  readonly capacity: number;
  readonly perMs: number;
  /** What may be spent beyond the allowance, and is paid back by later refills. */
  readonly maxDebt: number;
}

/** A full bucket. */
export function createTokenBucket(limits: TokenBucketLimits, nowMs: number): TokenBucket {
  return new Bucket(limits, nowMs);
}

class Bucket implements TokenBucket {
  left: number;
  private countedMs: number;
  private readonly limits: TokenBucketLimits;

  constructor(limits: TokenBucketLimits, nowMs: number) {
    this.limits = limits;
    this.left = limits.capacity;
    this.countedMs = nowMs;
  }

  refill(nowMs: number): number {
    const { capacity, perMs } = this.limits;
    this.left = Math.min(this.left + Math.max(nowMs - this.countedMs, 0) * perMs, capacity);
    this.countedMs = nowMs;
    return this.left;
  }

  spend(amount: number): void {
    const { capacity, maxDebt } = this.limits;
    this.left = Math.min(Math.max(this.left - amount, -maxDebt), capacity);
  }

  get waitMs(): number {
    return -this.left / this.limits.perMs;
  }
}
