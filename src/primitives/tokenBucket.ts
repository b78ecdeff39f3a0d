export interface TokenBucketLimits {
  /** Most unused allowance that accumulates. */
  readonly capacity: number;
  readonly perMs: number;
  /** Most that may be spent beyond the allowance; later refills pay it back. */
  readonly maxDebt: number;
}

/**
 * An allowance that refills with time, up to a capacity; each use spends some of it. It begins full. The caller passes the
 * time, on any clock: a time before the last one adds nothing, and the bucket refills from there.
 */
export class TokenBucket {
  private allowance: number;
  private countedMs: number;
  private readonly limits: TokenBucketLimits;

  constructor(limits: TokenBucketLimits, nowMs: number) {
    this.limits = limits;
    this.allowance = limits.capacity;
    this.countedMs = nowMs;
  }

  /** Adds what the time since the last refill allows, and returns what is left. */
  refill(nowMs: number): number {
    const { capacity, perMs } = this.limits;
    this.allowance = Math.min(this.allowance + Math.max(nowMs - this.countedMs, 0) * perMs, capacity);
    this.countedMs = nowMs;
    return this.allowance;
  }

  /** What was left after the last call; negative while in debt. */
  get left(): number {
    return this.allowance;
  }

  /** Takes `amount` without a refill, down to the largest debt; a negative amount is given back. */
  spend(amount: number): void {
    const { capacity, maxDebt } = this.limits;
    this.allowance = Math.min(Math.max(this.allowance - amount, -maxDebt), capacity);
  }

  /** Milliseconds after the last refill until the bucket is out of debt; 0 or less when it is not in debt. */
  get waitMs(): number {
    return -this.allowance / this.limits.perMs;
  }
}
