import type { Clock, Timer } from "../primitives/clock.ts";
import { IMPORT_FAILURE_PAUSE_MS } from "./limits.ts";

interface RetryScheduleParts {
  readonly clock: Clock;
  /** End of the earliest back-off; undefined when there is none. */
  readonly nextRetryMs: () => number | undefined;
  readonly retry: () => void;
}

/** Decides when sync may work, and when it tries again. */
export class RetrySchedule {
  private readonly parts: RetryScheduleParts;
  private hasEnded = false;
  private pausedUntilMs = 0;
  private timer: Timer | undefined;

  constructor(parts: RetryScheduleParts) {
    this.parts = parts;
  }

  isClosed(): boolean {
    return this.hasEnded;
  }

  /** False after close, and during the pause that follows a local failure. */
  canImport(): boolean {
    return !this.hasEnded && this.parts.clock.nowMs() >= this.pausedUntilMs;
  }

  /** Pauses, because an import failed for a local reason. */
  pause(): void {
    this.pausedUntilMs = this.parts.clock.nowMs() + IMPORT_FAILURE_PAUSE_MS;
  }

  /** During a back-off or pause, schedules the next attempt. */
  scheduleRetry(): void {
    this.timer?.cancel();
    if (this.hasEnded) return;
    const nextMs =
      this.pausedUntilMs > this.parts.clock.nowMs() ? this.pausedUntilMs : this.parts.nextRetryMs();
    this.timer = nextMs === undefined ? undefined : this.parts.clock.at(nextMs, this.parts.retry);
  }

  close(): void {
    this.hasEnded = true;
    this.timer?.cancel();
  }
}
