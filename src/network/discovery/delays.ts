import type { Clock, Timer } from "../../primitives/clock.ts";

/** Delays that end with their owner: after `close` none of them resolves any more, and no timer is left. */
export interface Delays {
  wait(durationMs: number): Promise<undefined>;
  close(): void;
}

export function createDelays(clock: Clock): Delays {
  const timers = new Set<Timer>();
  let isClosed = false;
  return {
    wait: (durationMs) =>
      new Promise((resolve) => {
        if (isClosed) return;
        const timer = clock.at(clock.nowMs() + durationMs, () => {
          timers.delete(timer);
          resolve(undefined);
        });
        timers.add(timer);
      }),
    close() {
      isClosed = true;
      for (const timer of timers) timer.cancel();
      timers.clear();
    },
  };
}
