import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, vi } from "vitest";
import type { HandClock } from "./handClock.ts";

/**
 * The timeouts of the code under test, and its time for durations (performance.now), run down by hand until the test ends: they never run out by themselves. Sockets and
 * Node's own servers keep the real time.
 */
export interface HandTimeouts {
  /** Lets `durationMs` pass, and what has become due happen. */
  advanceBy(durationMs: number): Promise<void>;
}

export function takeTimeouts(): HandTimeouts {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  return {
    async advanceBy(durationMs) {
      await vi.advanceTimersByTimeAsync(durationMs);
      await fewTurns();
    },
  };
}

/** Turns of the event loop, enough for sockets to see what the other end did. */
export async function fewTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
}

const TURNS = 100;

/** Lets as much time pass as the promise waits for. All other timers of the clock see that time, too. */
export async function advanceUntil(clock: HandClock, promise: Promise<unknown>): Promise<void> {
  const waiting = settling(promise);
  await expect
    .poll(() => {
      if (!waiting.isSettled) clock.advanceBy(100);
      return waiting.isSettled;
    })
    .toBe(true);
}

/** Whether the promise has settled. */
export function settling(promise: Promise<unknown>): { readonly isSettled: boolean } {
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  promise.then(settle, settle);
  return {
    get isSettled() {
      return isSettled;
    },
  };
}
