import type { Clock, Timer } from "../primitives/clock.ts";

/**
 * Bounds log lines that outsiders can provoke, so that they neither fill the disk nor hold up the node: so many of each
 * kind in each interval, and then their number.
 */
export interface OftenLines {
  /** Whether a line of this kind may be logged. If not, it is counted, and `tell` gets the number at the interval's end. */
  admits(kind: string, tell: (more: number) => void): boolean;
}

export interface OftenLimits {
  /** Lines of one kind in an interval. */
  readonly lines: number;
  readonly intervalMs: number;
}

export const OFTEN_INTERVAL_MS = 10_000;

/** Lines of one kind in an interval, by level: at most some 3 KB a second, and 150 KB at TRACE. Lines of errors bring stacks. */
export const OFTEN_LINES = { error: 10, debug: 100, trace: 5_000 } as const;

/** Characters of a text, since names of methods and reasons of disconnects are an outsider's. */
export const MAX_FACT_LENGTH = 300;

export function createOftenLines({ lines, intervalMs }: OftenLimits, clock: Clock): OftenLines {
  const kinds = new Map<string, Interval>();
  const begin = (): Interval => ({
    endsAtMs: clock.nowMs() + intervalMs,
    logged: 0,
    more: 0,
    timer: undefined,
  });
  return {
    admits(kind, tell) {
      let interval = kinds.get(kind);
      // With lines to tell of, an interval lasts until its timer fires.
      const isOver = interval?.timer === undefined && clock.nowMs() >= (interval?.endsAtMs ?? 0);
      if (interval === undefined || isOver) {
        interval = begin();
        kinds.set(kind, interval);
      }
      if (interval.logged < lines) {
        interval.logged++;
        return true;
      }
      interval.more++;
      const full = interval;
      full.timer ??= clock.at(full.endsAtMs, () => {
        kinds.delete(kind);
        tell(full.more);
      });
      return false;
    },
  };
}

/** Kinds are constants of the source, so there are few. */
interface Interval {
  readonly endsAtMs: number;
  logged: number;
  /** Lines that were not logged. */
  more: number;
  /** Timer of the line that tells how many more there were; set when there are any. */
  timer: Timer | undefined;
}
