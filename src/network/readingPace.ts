import type { Alarm, Clock } from "../primitives/clock.ts";
import { STRANGERS_BURST_MS, STRANGERS_TIME_SHARE } from "./limits.ts";

/**
 * How much of the thread's time goes into what strangers send: a share of it, for all of them together, whatever it is
 * that takes the time. Who comes when the share is spent waits, in the order of coming.
 */
export interface ReadingPace {
  /** Reads now, or in its turn. False when it has to wait. */
  take(read: () => void): boolean;
  /** Nothing that waits is read any more. */
  close(): void;
}

export function createReadingPace(clock: Clock): ReadingPace {
  const waiting: (() => void)[] = [];
  let leftMs = STRANGERS_BURST_MS;
  let countedMs = clock.nowMs();
  let alarm: Alarm | undefined;

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
    alarm = undefined;
    refill();
    while (leftMs > 0) {
      const read = waiting.shift();
      if (read === undefined) return;
      run(read);
    }
    schedule();
  }

  function schedule(): void {
    if (alarm !== undefined || waiting.length === 0) return;
    const waitMs = Math.max(1, Math.ceil(-leftMs / STRANGERS_TIME_SHARE));
    alarm = clock.at(clock.nowMs() + waitMs, runWaiting);
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
    close() {
      alarm?.cancel();
      alarm = undefined;
      waiting.length = 0;
    },
  };
}
