import { type Clock, clockOf } from "./clock.ts";

export interface MonotonicClockParts {
  /** The machine's wall clock, which somebody may set: milliseconds since 1970. */
  wallMs(): number;
  /** A clock that nobody can set, from any beginning. It may stand still while the machine sleeps. */
  monotonicMs(): number;
  /** As steadyMs, but asleep it goes on. Asked only when something looks wrong. */
  sinceBootMs(): number;
  /** The wall clock was set, by so much; it is not followed for the time being. */
  onStep(stepMs: number): void;
  /** It was set back to where it had been, and none of our blocks bears the other time. */
  onReturn(): void;
  /** It has kept its new time for so long that it is followed from now on. */
  onFollow(stepMs: number): void;
}

/**
 * The wall clock, save that a sudden step of it is not followed before it has lasted for a minute. A block that was
 * stamped an hour ahead stays in the chain for ever, and once the clock is corrected no block can follow it for an hour;
 * so a mistake that somebody notices at once must not reach a block. Small corrections, as a time service makes them, are
 * followed at once, and so is the time that the machine has slept.
 */
export function createMonotonicClock(parts: MonotonicClockParts): Clock {
  const { wallMs, monotonicMs, sinceBootMs } = parts;
  const base = readAll();
  /** The step that is not followed yet, and when it was noticed, on the steady clock. */
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
      parts.onFollow(gapMs);
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

/** Time services correct less than this without anybody noticing; headers may be this wrong, too. */
const FOLLOWED_MS = 1000;
/** A step that lasts this long is no mistake that somebody is about to correct. */
export const STEP_LASTS_MS = 60_000;
