import { systemClock } from "../primitives/clock.ts";

const INTERVAL_MS = 5000;

/** Prints the progress of a check's step, in percent and time left, every few seconds. */
export class CheckProgress {
  private readonly print: (line: string) => void;
  private readonly nowMs: () => number;
  private total = 0;
  private done = 0;
  private startMs = 0;
  private nextMs = 0;

  constructor(print: (line: string) => void, nowMs: () => number = systemClock.nowMs) {
    this.print = print;
    this.nowMs = nowMs;
  }

  /** Begins a step; `work` is its amount, in any unit. */
  begin(step: string, work: number): void {
    this.print(step);
    [this.total, this.done, this.startMs] = [work, 0, this.nowMs()];
    this.nextMs = this.startMs + INTERVAL_MS;
  }

  advance(more: number): void {
    this.done += more;
    const now = this.nowMs();
    if (now < this.nextMs || this.total === 0) return;
    this.nextMs = now + INTERVAL_MS;
    // Totals are sizes on disk, which may be slightly less than the bytes read.
    const share = Math.min(0.99, this.done / this.total);
    const secondsLeft = Math.round((((now - this.startMs) / 1000) * (1 - share)) / Math.max(share, 0.001));
    this.print(`  ${Math.floor(100 * share)} %, about ${durationOf(secondsLeft)} left`);
  }
}

/** Formats a duration: "90 s", "12 min", "3 h". */
export function durationOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
