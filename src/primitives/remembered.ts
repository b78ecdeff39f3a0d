import { durationClock } from "./clock.ts";

/** Wraps `read` so that calls within `forMs` share one reading and its value. A failed reading is not remembered. */
export function remembered<T>(read: () => Promise<T>, forMs: number): () => Promise<T> {
  let known: Promise<T> | undefined;
  let readAtMs = 0;
  return () => {
    const nowMs = durationClock.nowMs();
    if (known !== undefined && nowMs - readAtMs < forMs) return known;
    readAtMs = nowMs;
    const reading = read();
    known = reading;
    reading.catch(() => {
      if (known === reading) known = undefined;
    });
    return reading;
  };
}
