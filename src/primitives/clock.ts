/** Time as a parameter, so that tests and the simulator can control it. */
export interface Clock {
  /** Milliseconds since 1970, except where a clock says otherwise. */
  nowMs(): number;
  /** Runs `action` once, at or after `atMs` on this clock. */
  at(atMs: number, action: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** The real clock. */
export const systemClock: Clock = clockOf(() => Date.now());

/**
 * The clock for durations and intervals: it cannot be set. Its times mean nothing outside this process, and it may stop while the
 * system sleeps.
 */
export const durationClock: Clock = clockOf(() => performance.now());

/** A clock from a source of time. Each single timeout is bounded, so that a jump of the time takes effect soon. */
export function clockOf(nowMs: () => number): Clock {
  return {
    nowMs,
    at(atMs, action) {
      let timer: NodeJS.Timeout;
      const wait = (): void => {
        const leftMs = atMs - nowMs();
        timer =
          leftMs <= 0
            ? setTimeout(action, 0)
            : setTimeout(leftMs > LONGEST_SLEEP_MS ? wait : act, Math.min(leftMs, LONGEST_SLEEP_MS));
      };
      const act = (): void => {
        if (nowMs() < atMs) wait();
        else action();
      };
      wait();
      return { cancel: () => clearTimeout(timer) };
    },
  };
}

const LONGEST_SLEEP_MS = 1000;
