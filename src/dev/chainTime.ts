import { larger, smaller } from "../primitives/quantity.ts";
import { fail, ok, type Result } from "../primitives/result.ts";

/** Seconds since 1970 that a block may have at most: callers' tools read it as a number, and contracts as 64 bits. */
const LATEST_TIMESTAMP = 2n ** 53n - 1n;

/**
 * The time of a development chain (development-network.md#time): the clock and an offset, at least one second after the parent's, unless
 * the next block's time was set. What a block's time is ahead of the clock and the offset, the offset is from then on, so that time
 * that was moved by callers adds to the newest block's.
 */
export class ChainTime {
  private ahead: bigint;
  private exact: bigint | undefined;
  /** Seconds between two blocks' times, whatever the clock says. */
  private interval: bigint | undefined;

  constructor(offsetSeconds: bigint) {
    this.ahead = offsetSeconds;
  }

  /** Seconds by which the chain's time is ahead of the clock. */
  get offsetSeconds(): bigint {
    return this.ahead;
  }

  /** The time set for the next block, if one is. */
  get nextExact(): bigint | undefined {
    return this.exact;
  }

  /** The next block's time, which is later than its parent's. An interval leads past the latest one by no more than that asks. */
  next(parent: bigint, nowMs: number): bigint {
    if (this.exact !== undefined && this.exact > parent) return this.exact;
    const wanted = this.interval === undefined ? secondsOf(nowMs) + this.ahead : parent + this.interval;
    return larger(parent + 1n, smaller(wanted, LATEST_TIMESTAMP));
  }

  /** A block of that time was made: a time set for the next block counts no longer. */
  mined(timestamp: bigint, nowMs: number): void {
    const now = secondsOf(nowMs);
    const wasExact = this.exact !== undefined;
    this.exact = undefined;
    if (wasExact || timestamp > now + this.ahead) this.ahead = timestamp - now;
  }

  /** Moves the time ahead. */
  increase(seconds: bigint, nowMs: number): Result<void, "timeTooLate"> {
    if (secondsOf(nowMs) + this.ahead + seconds > LATEST_TIMESTAMP) return tooLate();
    this.ahead += seconds;
    return ok(undefined);
  }

  /** Makes it this time now, which may be earlier than it was; blocks still follow their parents. */
  set(timestamp: bigint, nowMs: number): Result<void, "timeTooLate"> {
    if (timestamp > LATEST_TIMESTAMP) return tooLate();
    this.ahead = timestamp - secondsOf(nowMs);
    this.exact = undefined;
    return ok(undefined);
  }

  /** Sets the time of the next block that is mined. */
  setNext(timestamp: bigint, parent: bigint): Result<void, "timeTooEarly" | "timeTooLate"> {
    if (timestamp <= parent) return tooEarly(timestamp, parent);
    if (timestamp > LATEST_TIMESTAMP) return tooLate();
    this.exact = timestamp;
    return ok(undefined);
  }

  /** Fixes the time between blocks, or has the clock decide again; returns whether it was fixed before. */
  setInterval(seconds: bigint | undefined): boolean {
    const wasFixed = this.interval !== undefined;
    this.interval = seconds;
    return wasFixed;
  }

  /** What a snapshot keeps. */
  get state(): ChainTimeState {
    return { ahead: this.ahead, exact: this.exact, interval: this.interval };
  }

  restore({ ahead, exact, interval }: ChainTimeState): void {
    this.ahead = ahead;
    this.exact = exact;
    this.interval = interval;
  }
}

/** What the time is ahead of the clock: as it was left, and at least as much as the newest block is. */
export function offsetAtStart(leftSeconds: bigint, newest: bigint, nowMs: number): bigint {
  return larger(leftSeconds, newest - secondsOf(nowMs));
}

export interface ChainTimeState {
  readonly ahead: bigint;
  readonly exact: bigint | undefined;
  readonly interval: bigint | undefined;
}

/** The texts are Hardhat's, which tools look for. */
function tooEarly(timestamp: bigint, parent: bigint): Result<never, "timeTooEarly"> {
  const message =
    timestamp < parent
      ? `Timestamp ${timestamp} is lower than the previous block's timestamp ${parent}`
      : `Timestamp ${timestamp} is equal to the previous block's timestamp. Enable the 'allowBlocksWithSameTimestamp' option to allow this`;
  return fail("caller", "timeTooEarly", message);
}

function tooLate(): Result<never, "timeTooLate"> {
  return fail("caller", "timeTooLate", `no block can be later than ${LATEST_TIMESTAMP} s after 1970`);
}

const secondsOf = (nowMs: number): bigint => BigInt(Math.floor(nowMs / 1000));
