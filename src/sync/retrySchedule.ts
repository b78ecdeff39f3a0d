import type { Clock, Timer } from "../primitives/clock.ts";
import { IMPORT_FAILURE_PAUSE_MS } from "./limits.ts";

/** Decides when sync may work, and when it tries again. */
interface RetrySchedule {
  isClosed(): boolean;
  /** False after close, and during the pause that follows a local failure. */
  canImport(): boolean;
  /** Pauses, because an import failed for a local reason. */
  pause(): void;
  /** During a back-off or pause, schedules the next attempt. */
  scheduleRetry(): void;
  close(): void;
}

export function createRetrySchedule(parts: {
  readonly clock: Clock;
  /** End of the earliest back-off; undefined when there is none. */
  readonly nextRetryMs: () => number | undefined;
  readonly retry: () => void;
}): RetrySchedule {
  const { clock } = parts;
  let isClosed = false;
  let pausedUntilMs = 0;
  let timer: Timer | undefined;
  return {
    isClosed: () => isClosed,
    canImport: () => !isClosed && clock.nowMs() >= pausedUntilMs,
    pause() {
      pausedUntilMs = clock.nowMs() + IMPORT_FAILURE_PAUSE_MS;
    },
    scheduleRetry() {
      timer?.cancel();
      if (isClosed) return;
      const nextMs = pausedUntilMs > clock.nowMs() ? pausedUntilMs : parts.nextRetryMs();
      timer = nextMs === undefined ? undefined : clock.at(nextMs, parts.retry);
    },
    close() {
      isClosed = true;
      timer?.cancel();
    },
  };
}
