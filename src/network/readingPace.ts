import type { Clock } from "../primitives/clock.ts";
import { STRANGERS_BURST_MS, STRANGERS_TIME_SHARE } from "./limits.ts";

/**
 * How much of the thread's time goes into what strangers send: a share of it, for all of them together, whatever it is
 * that takes the time. Who comes when the share is spent waits, in the order of coming.
 */
export interface ReadingPace {
  /** Reads now, or in its turn. False when it has to wait. */
  take(read: () => void): boolean;
}

export function createReadingPace(clock: Clock): ReadingPace {
  const waiting: (() => void)[] = [];
  let leftMs = STRANGERS_BURST_MS;
  let countedMs = clock.nowMs();
  let isScheduled = false;

  function refill(): void {
    const nowMs = clock.nowMs();
    leftMs = Math.min(leftMs + (nowMs - countedMs) * STRANGERS_TIME_SHARE, STRANGERS_BURST_MS);
    countedMs = nowMs;
  }

  function run(read: () => void): void {
    const startMs = clock.nowMs();
    read();
    leftMs -= clock.nowMs() - startMs;
  }

  function runWaiting(): void {
    isScheduled = false;
    refill();
    while (leftMs > 0) {
      const read = waiting.shift();
      if (read === undefined) return;
      run(read);
    }
    schedule();
  }

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return;
    isScheduled = true;
    const waitMs = Math.max(1, Math.ceil(-leftMs / STRANGERS_TIME_SHARE));
    clock.at(clock.nowMs() + waitMs, runWaiting);
  }

  return {
    take(read) {
      refill();
      if (waiting.length === 0 && leftMs > 0) {
        run(read);
        return true;
      }
      waiting.push(read);
      schedule();
      return false;
    },
  };
}
