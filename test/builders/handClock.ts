import type { Clock } from "../../src/primitives/clock.ts";

/** A clock whose hands a test turns. */
export interface HandClock extends Clock {
  /** Moves to `atMs`, ringing the alarms that fall due on the way, earliest first and each at its own time. */
  advanceTo(atMs: number): void;
  advanceBy(durationMs: number): void;
  /** As when somebody corrects a clock that was fast: alarms stay due at the times they were set for. */
  setBack(durationMs: number): void;
  /** When the next alarm is due; undefined when none is set. */
  readonly nextAlarmMs: number | undefined;
}

/** Starts at `startMs`. An alarm set for a past moment rings at the next advance, at the time that is then shown. */
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
