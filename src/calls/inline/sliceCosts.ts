import { dropOldest } from "../../primitives/boundedCache.ts";
import type { CallCostEstimate } from "./callCostEstimate.ts";
import { NAMES_LIMIT, type Pauses, pause } from "./pause.ts";

/**
 * Time for one call on a thread that makes no blocks. Calls that need more are begun anew on a thread that can be terminated, which
 * costs them that time.
 */
const CALL_SLICE_MS = 4;

/** Gives every call a slice, except those whose name did not end within one lately: their pauses double. */
export function createSliceCosts(nowMs: () => number): CallCostEstimate {
  const long = new Map<string, Pauses>();
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
      pause(record, nowMs());
      // Reinserted, so that the map is ordered by the last abort.
      long.delete(name);
      long.set(name, record);
      dropOldest(long, NAMES_LIMIT);
    },
  };
}
