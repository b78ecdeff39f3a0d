/** The world's time as an argument, so that tests and the simulator can turn the hands themselves. */
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
 * For how long things last and how often they come again: nobody can set it. Its times mean nothing outside this
 * process, and it may stand still while the machine sleeps.
 */
export const durationClock: Clock = clockOf(() => performance.now());

/** A clock of which only the time is known. The longest single sleep is bounded so that a jump of the time is noticed. */
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
