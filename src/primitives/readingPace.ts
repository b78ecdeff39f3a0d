import type { Alarm, Clock } from "./clock.ts";

/**
 * How much of the thread's time goes into what others send: a share of it, for all of them together, whatever it is that
 * takes the time. Who comes when the share is spent waits, in the order of coming.
 */
export interface ReadingPace {
  /** Reads now, or in its turn. False when it has to wait. */
  take(read: () => void): boolean;
  /** Nothing that waits is read any more, nor what comes later. */
  close(): void;
}

export interface ReadingPaceSettings {
  /** Part of the time. */
  readonly share: number;
  /** What of it is left over is kept, up to this. */
  readonly burstMs: number;
}

export function createReadingPace(clock: Clock, { share, burstMs }: ReadingPaceSettings): ReadingPace {
  const waiting: (() => void)[] = [];
  let leftMs = burstMs;
  let countedMs = clock.nowMs();
  let alarm: Alarm | undefined;
  let isClosed = false;

  function refill(): void {
    const nowMs = clock.nowMs();
    leftMs = Math.min(leftMs + (nowMs - countedMs) * share, burstMs);
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
    const waitMs = Math.max(1, Math.ceil(-leftMs / share));
    alarm = clock.at(clock.nowMs() + waitMs, runWaiting);
  }

  return {
    take(read) {
      if (isClosed) return false;
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
      isClosed = true;
      alarm?.cancel();
      alarm = undefined;
      waiting.length = 0;
    },
  };
}
