/** The world's time as an argument, so that tests and the simulator can turn the hands themselves. */
export interface Clock {
  /** Wall-clock milliseconds since 1970. */
  nowMs(): number;
  /** Runs `action` once, at or after the wall-clock time `atMs`. */
  at(atMs: number, action: () => void): Alarm;
}

export interface Alarm {
  cancel(): void;
}

/** The real clock. The longest single sleep is bounded so that a jumping wall clock is noticed. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  at(atMs, action) {
    let timer: NodeJS.Timeout;
    const wait = (): void => {
      const leftMs = atMs - Date.now();
      timer =
        leftMs <= 0
          ? setTimeout(action, 0)
          : setTimeout(leftMs > LONGEST_SLEEP_MS ? wait : act, Math.min(leftMs, LONGEST_SLEEP_MS));
    };
    const act = (): void => {
      if (Date.now() < atMs) wait();
      else action();
    };
    wait();
    return { cancel: () => clearTimeout(timer) };
  },
};

const LONGEST_SLEEP_MS = 1000;
