import type { Clock } from "../../primitives/clock.ts";

/** Wakes everyone who waits when something has changed. */
export class Signal {
  private readonly clock: Clock;
  private waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.clock = clock;
  }

  notify(): void {
    const woken = this.waiting;
    this.waiting = [];
    for (const wake of woken) wake();
  }

  /** Resolves to true at the next `notify`, or to false after `timeoutMs`. */
  wait(timeoutMs?: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer =
        timeoutMs === undefined
          ? undefined
          : this.clock.at(this.clock.nowMs() + timeoutMs, () => resolve(false));
      this.waiting.push(() => {
        timer?.cancel();
        resolve(true);
      });
    });
  }
}
