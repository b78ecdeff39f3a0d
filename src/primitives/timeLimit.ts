import { setMaxListeners } from "node:events";

/**
 * Runs `work` with a signal that aborts when the time is over, with a TimeoutError like AbortSignal.timeout's, or when
 * `stop` does, with its reason. Suits a long-lived `stop`: AbortSignal.any keeps two kilobytes per call for as long as such
 * a signal lives (Node.js 20), this function keeps nothing.
 */
export async function withTimeLimit<T>(
  limitMs: number,
  stop: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const passOn = (): void => ended.abort(stop.reason);
  const timer = setTimeout(() => {
    ended.abort(new DOMException(`There was no answer within ${limitMs} ms`, "TimeoutError"));
  }, limitMs);
  // The signal has a listener for each piece of work in progress, which is no sign of a leak.
  setMaxListeners(0, stop);
  stop.addEventListener("abort", passOn);
  if (stop.aborted) passOn();
  try {
    return await work(ended.signal);
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", passOn);
  }
}
