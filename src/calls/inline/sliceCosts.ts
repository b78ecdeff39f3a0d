import { dropOldest } from "../../primitives/boundedCache.ts";
import type { CallCostEstimate } from "./callCostEstimate.ts";

/**
 * Time for one call on a thread that makes no blocks. Calls that need more are begun anew on a thread that can be terminated, which
 * costs them that time.
 */
const CALL_SLICE_MS = 4;

/** Maximum number of names kept, the last used ones. */
const NAMES_LIMIT = 4096;
const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 10_000;

interface LongName {
  /** Number of pauses, less completed calls since. */
  pauses: number;
  retryAtMs: number;
}

/** Gives every call a slice, except those whose name did not end within one lately: their pauses double. */
export function createSliceCosts(nowMs: () => number): CallCostEstimate {
  const long = new Map<string, LongName>();
  return {
    mayRunInline: (name) => nowMs() >= (long.get(name)?.retryAtMs ?? 0),
    // An aborted call is never repeated here.
    isProven: () => false,
    limitMs: () => CALL_SLICE_MS,
    completed(name) {
      const record = long.get(name);
      if (record !== undefined && --record.pauses === 0) long.delete(name);
    },
    aborted(name) {
      const record = long.get(name) ?? { pauses: 0, retryAtMs: 0 };
      record.retryAtMs = nowMs() + Math.min(FIRST_PAUSE_MS * 2 ** record.pauses, MAX_PAUSE_MS);
      record.pauses++;
      // Reinserted, so that the map is ordered by the last abort.
      long.delete(name);
      long.set(name, record);
      dropOldest(long, NAMES_LIMIT);
    },
  };
}
