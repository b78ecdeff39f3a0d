import type { Clock, Timer } from "../../primitives/clock.ts";
import { LONGEST_RESPONSE_MS, REQUEST_TIMEOUT_MS, RESPONSE_PROGRESS_BYTES } from "./limits.ts";

/**
 * Waits for one response: `onTimeout` runs after 5 s, or later while the peer is sending, after a minute at most
 * (p2p.md#requests-and-limits).
 */
export function startResponseTimer(
  parts: {
    readonly clock: Clock;
    /** Bytes received from the peer so far. */
    readonly receivedBytes: () => number;
  },
  onTimeout: () => void,
): Timer {
  const { clock, receivedBytes } = parts;
  const lastMs = clock.nowMs() + LONGEST_RESPONSE_MS;
  let bytesBefore = 0;
  let timer = startPeriod();

  function startPeriod(): Timer {
    bytesBefore = receivedBytes();
    return clock.at(clock.nowMs() + REQUEST_TIMEOUT_MS, endPeriod);
  }

  function endPeriod(): void {
    const isComing = receivedBytes() - bytesBefore >= RESPONSE_PROGRESS_BYTES && clock.nowMs() < lastMs;
    if (isComing) timer = startPeriod();
    else onTimeout();
  }

  return { cancel: () => timer.cancel() };
}
