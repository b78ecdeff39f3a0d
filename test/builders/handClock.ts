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
  /** By the time they are due, the last one first; those due at one time in the order in which they were set. */
  const alarms: Alarm[] = [];

  function plan(alarm: Alarm): void {
    let [from, until] = [0, alarms.length];
    while (from < until) {
      const middle = (from + until) >> 1;
      if ((alarms[middle]?.atMs ?? 0) > alarm.atMs) from = middle + 1;
      else until = middle;
    }
    alarms.splice(from, 0, alarm);
  }

  function earliest(): Alarm | undefined {
    while (alarms.at(-1)?.isCancelled === true) alarms.pop();
    return alarms.at(-1);
  }

  const clock: HandClock = {
    nowMs: () => nowMs,
    at(atMs, action) {
      const alarm = { atMs, action, isCancelled: false };
      plan(alarm);
      return {
        cancel() {
          alarm.isCancelled = true;
        },
      };
    },
    advanceTo(atMs) {
      for (let due = earliest(); due !== undefined && due.atMs <= atMs; due = earliest()) {
        alarms.pop();
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

interface Alarm {
  readonly atMs: number;
  readonly action: () => void;
  isCancelled: boolean;
}
