import { type Clock, clockOf } from "./clock.ts";

interface MonotonicClockParts {
  /** The system's wall clock, which an operator may set: milliseconds since 1970. */
  wallMs(): number;
  /** A clock that cannot be set, with an arbitrary origin. It may stop while the system sleeps. */
  monotonicMs(): number;
  /** Like monotonicMs, but also counts sleep. It is called only after a suspicious step. */
  sinceBootMs(): number;
  /** The wall clock was set by `stepMs`; this clock does not follow yet. */
  onStep(stepMs: number): void;
  /** The wall clock was set back; none of our blocks has the wrong time. */
  onReturn(): void;
  /** Whether others agree with the wall clock, which shows `wallMs` since it was set by `stepMs`; nobody does by default. */
  isConfirmed?(wallMs: number, stepMs: number): boolean;
  /** The wall clock has kept its new time for STEP_LASTS_MS, or others agree with it; this clock follows from now on. */
  onFollow(stepMs: number, why: "lasted" | "confirmed"): void;
}

/**
 * Follows the wall clock, except that a sudden step takes effect only after it has lasted for a minute. A block with a
 * timestamp an hour ahead stays in the chain for ever, and once the clock is corrected no block can follow it for an hour;
 * so a mistake that is soon corrected must not reach a block. Small corrections, as time services make them, take effect at
 * once, and so does the time that the system has slept. A step that others confirm is no mistake, and takes effect as soon
 * as they do.
 */
export function createMonotonicClock(parts: MonotonicClockParts): Clock {
  const { wallMs, monotonicMs, sinceBootMs } = parts;
  const base = readAll();
  /** The step that has not taken effect yet, and when it was detected, on the monotonic clock. */
  let step: { readonly byMs: number; readonly atMs: number } | undefined;

  function readAll() {
    return { wall: wallMs(), monotonic: monotonicMs(), sinceBoot: sinceBootMs() };
  }

  function nowMs(): number {
    const wall = wallMs();
    const monotonic = monotonicMs();
    const gapMs = wall - base.wall - (monotonic - base.monotonic);
    if (Math.abs(gapMs) <= FOLLOWED_MS) {
      base.sinceBoot += monotonic - base.monotonic;
      base.wall = wall;
      base.monotonic = monotonic;
      if (step !== undefined) parts.onReturn();
      step = undefined;
      return wall;
    }
    const sleptMs = sinceBootMs() - base.sinceBoot - (monotonic - base.monotonic);
    if (Math.abs(gapMs - sleptMs) <= FOLLOWED_MS) return follow();
    if (step === undefined || Math.abs(step.byMs - gapMs) > FOLLOWED_MS) {
      step = { byMs: gapMs, atMs: monotonic };
      parts.onStep(gapMs);
    } else if (monotonic - step.atMs >= STEP_LASTS_MS) {
      parts.onFollow(gapMs, "lasted");
      return follow();
    }
    if (parts.isConfirmed?.(wall, gapMs) === true) {
      parts.onFollow(gapMs, "confirmed");
      return follow();
    }
    return wall - gapMs;
  }

  function follow(): number {
    Object.assign(base, readAll());
    step = undefined;
    return base.wall;
  }

  return clockOf(nowMs);
}

/** Steps up to this take effect at once: time services make them routinely, and headers may be this wrong, too. */
const FOLLOWED_MS = 1000;
/** A step that lasts this long is not a mistake that is about to be corrected. */
export const STEP_LASTS_MS = 60_000;
