import { setMaxListeners } from "node:events";

/**
 * Runs `work` with a signal that aborts when the time is over, with a TimeoutError as AbortSignal.timeout's, or with `stop`, and then
 * with its reason. For a `stop` that lives on: AbortSignal.any keeps two kilobytes of each call with such a signal for as long as it
 * lives (Node.js 20), this keeps nothing.
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
  // The signal has a listener for each piece of work that is under way, which is no sign of a leak.
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
