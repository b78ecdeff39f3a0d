import type { Logger } from "../../observability/logger.ts";
import { systemClock } from "../../primitives/clock.ts";

/** Intervals of progress lines: shorter on a terminal than in a log file. */
const TERMINAL_INTERVAL_MS = 1000;
const LOG_INTERVAL_MS = 5000;

interface SnapshotProgressParts {
  readonly message: string;
  readonly total?: number;
  readonly isTerminal: boolean;
}

/** Logs how far an export or import is, at most once per interval. */
export class SnapshotProgress {
  private readonly parts: SnapshotProgressParts;
  private readonly logger: Logger;
  private readonly nowMs: () => number;
  private readonly intervalMs: 1000 | 5000;
  private lastMs: number;

  constructor(parts: SnapshotProgressParts, logger: Logger, nowMs: () => number = systemClock.nowMs) {
    this.parts = parts;
    this.logger = logger;
    this.nowMs = nowMs;
    this.intervalMs = parts.isTerminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS;
    this.lastMs = nowMs();
  }

  /** Advances to `position` of `total` bytes of the file, if the total is known. */
  advance(
    { accounts, slots }: { readonly accounts: number; readonly slots: number },
    position?: number,
  ): void {
    const now = this.nowMs();
    if (now - this.lastMs < this.intervalMs) return;
    this.lastMs = now;
    const percent =
      this.parts.total === undefined || position === undefined
        ? {}
        : { percent: Number(((100 * position) / this.parts.total).toFixed(1)) };
    this.logger.info({ ...percent, accounts, slots }, this.parts.message);
  }
}
