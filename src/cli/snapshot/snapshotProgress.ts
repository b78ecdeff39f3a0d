import type { Logger } from "../../observability/logger.ts";
import { systemClock } from "../../primitives/clock.ts";

/** Logs how far an export or import is, at most once per interval. */
export interface SnapshotProgress {
  /** Advances to `position` of `total` bytes of the file, if the total is known. */
  advance(counts: { readonly accounts: number; readonly slots: number }, position?: number): void;
}

/** Intervals of progress lines: shorter on a terminal than in a log file. */
const TERMINAL_INTERVAL_MS = 1000;
const LOG_INTERVAL_MS = 5000;

export function createSnapshotProgress(
  {
    message,
    total,
    isTerminal,
  }: { readonly message: string; readonly total?: number; readonly isTerminal: boolean },
  logger: Logger,
  nowMs: () => number = systemClock.nowMs,
): SnapshotProgress {
  const intervalMs = isTerminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS;
  let lastMs = nowMs();
  return {
    advance({ accounts, slots }, position) {
      const now = nowMs();
      if (now - lastMs < intervalMs) return;
      lastMs = now;
      const percent =
        total === undefined || position === undefined
          ? {}
          : { percent: Number(((100 * position) / total).toFixed(1)) };
      logger.info({ ...percent, accounts, slots }, message);
    },
  };
}
