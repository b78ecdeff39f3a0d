import { systemClock } from "../primitives/clock.ts";

/** Prints the progress of a check's step, in percent and time left, every few seconds. */
export interface CheckProgress {
  /** Begins a step; `total` is its amount of work, in any unit. */
  begin(step: string, total: number): void;
  advance(done: number): void;
}

const INTERVAL_MS = 5000;

export function createCheckProgress(
  print: (line: string) => void,
  nowMs: () => number = systemClock.nowMs,
): CheckProgress {
  let total = 0;
  let done = 0;
  let startMs = 0;
  let nextMs = 0;
  return {
    begin(step, work) {
      print(step);
      [total, done, startMs] = [work, 0, nowMs()];
      nextMs = startMs + INTERVAL_MS;
    },
    advance(more) {
      done += more;
      const now = nowMs();
      if (now < nextMs || total === 0) return;
      nextMs = now + INTERVAL_MS;
      // Totals are sizes on disk, which may be slightly less than the bytes read.
      const share = Math.min(0.99, done / total);
      const secondsLeft = Math.round((((now - startMs) / 1000) * (1 - share)) / Math.max(share, 0.001));
      print(`  ${Math.floor(100 * share)} %, about ${durationOf(secondsLeft)} left`);
    },
  };
}

/** For people: "90 s", "12 min", "3 h". */
export function durationOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
