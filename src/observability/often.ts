import type { Clock, Timer } from "../primitives/clock.ts";

interface OftenLimits {
  /** Most lines of one kind in an interval. */
  readonly lines: number;
  readonly intervalMs: number;
}

export const OFTEN_INTERVAL_MS = 10_000;

/** Most lines of one kind in an interval, by level: some 3 KB a second, and 150 KB at TRACE. Lines of errors have stacks. */
export const OFTEN_LINES = { error: 10, warn: 10, debug: 100, trace: 5_000 } as const;

/** Most characters of a text: names of methods and reasons of disconnects come from outsiders. */
export const MAX_FIELD_LENGTH = 300;

/**
 * Bounds log lines that outsiders can provoke, so that they neither fill the disk nor hold up the node: a limited number of
 * each kind in an interval, then one line with the number of the others.
 */
export class OftenLines {
  private readonly limits: OftenLimits;
  private readonly clock: Clock;
  private readonly kinds = new Map<string, Interval>();

  constructor(limits: OftenLimits, clock: Clock) {
    this.limits = limits;
    this.clock = clock;
  }

  /**
   * Whether a line of this kind may be logged. If not, it is counted, and `report` receives the count at the interval's end.
   */
  admits(kind: string, report: (more: number) => void): boolean {
    let interval = this.kinds.get(kind);
    // An interval with suppressed lines lasts until its timer fires.
    const isOver = interval?.timer === undefined && this.clock.nowMs() >= (interval?.endsAtMs ?? 0);
    if (interval === undefined || isOver) {
      interval = this.begin();
      this.kinds.set(kind, interval);
    }
    if (interval.logged < this.limits.lines) {
      interval.logged++;
      return true;
    }
    interval.more++;
    const full = interval;
    full.timer ??= this.clock.at(full.endsAtMs, () => {
      this.kinds.delete(kind);
      report(full.more);
    });
    return false;
  }

  private begin(): Interval {
    return {
      endsAtMs: this.clock.nowMs() + this.limits.intervalMs,
      logged: 0,
      more: 0,
      timer: undefined,
    };
  }
}

/** Kinds are constants of the source, so there are few. */
interface Interval {
  readonly endsAtMs: number;
  logged: number;
  /** Number of lines that were not logged. */
  more: number;
  /** Timer of the line that reports how many more there were; set when there are any. */
  timer: Timer | undefined;
}
