import type { Clock } from "../../primitives/clock.ts";

/** Wakes everyone who waits when something has changed. */
export interface Signal {
  notify(): void;
  /** Resolves to true at the next `notify`, or to false after `timeoutMs`. */
  wait(timeoutMs?: number): Promise<boolean>;
}

export function createSignal(clock: Clock): Signal {
  let waiting: (() => void)[] = [];
  return {
    notify() {
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    wait: (timeoutMs) =>
      new Promise((resolve) => {
        const timer =
          timeoutMs === undefined ? undefined : clock.at(clock.nowMs() + timeoutMs, () => resolve(false));
        waiting.push(() => {
          timer?.cancel();
          resolve(true);
        });
      }),
  };
}
