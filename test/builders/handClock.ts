import type { Clock } from "../../src/primitives/clock.ts";

/** A clock that a test advances. */
export interface HandClock extends Clock {
  /** Advances to `atMs` and fires the timers due until then, earliest first and each at its own time. */
  advanceTo(atMs: number): void;
  advanceBy(durationMs: number): void;
  /** Sets a fast clock back: timers stay due at the times they were set for. */
  setBack(durationMs: number): void;
  /** When the next timer is due; undefined when none is set. */
  readonly nextAlarmMs: number | undefined;
}

/** Starts at `startMs`. A timer set for a past time fires at the next advance, at the current time. */
export function createHandClock(startMs: number): HandClock {
  let nowMs = startMs;
  let sequence = 0;
  const alarms = new Map<number, { readonly atMs: number; readonly action: () => void }>();

  function earliest():
    | { readonly id: number; readonly atMs: number; readonly action: () => void }
    | undefined {
    let found: { readonly id: number; readonly atMs: number; readonly action: () => void } | undefined;
    for (const [id, alarm] of alarms)
      if (found === undefined || alarm.atMs < found.atMs) found = { id, ...alarm };
    return found;
  }

  const clock: HandClock = {
    nowMs: () => nowMs,
    at(atMs, action) {
      const id = sequence++;
      alarms.set(id, { atMs, action });
      return { cancel: () => void alarms.delete(id) };
    },
    advanceTo(atMs) {
      for (let due = earliest(); due !== undefined && due.atMs <= atMs; due = earliest()) {
        alarms.delete(due.id);
        nowMs = Math.max(nowMs, due.atMs);
        due.action();
      }
      nowMs = Math.max(nowMs, atMs);
    },
    advanceBy: (durationMs) => clock.advanceTo(nowMs + durationMs),
    setBack(durationMs) {
      nowMs -= durationMs;
    },
    get nextAlarmMs() {
      return earliest()?.atMs;
    },
  };
  return clock;
}
