import type { Clock, Timer } from "../../primitives/clock.ts";

/** Delays that end with their owner: after `close` none of them resolves, and no timer is left. */
export class Delays {
  private readonly clock: Clock;
  private readonly timers = new Set<Timer>();
  private isClosed = false;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  wait(durationMs: number): Promise<undefined> {
    return new Promise((resolve) => {
      if (this.isClosed) return;
      const timer = this.clock.at(this.clock.nowMs() + durationMs, () => {
        this.timers.delete(timer);
        resolve(undefined);
      });
      this.timers.add(timer);
    });
  }

  close(): void {
    this.isClosed = true;
    for (const timer of this.timers) timer.cancel();
    this.timers.clear();
  }
}
