import { dropOldest } from "../../primitives/boundedCache.ts";
import { TokenBucket } from "../../primitives/tokenBucket.ts";
import { NAMES_LIMIT, type Pauses, pause } from "./pause.ts";

/**
 * Decides which calls to run inline, by what calls of the same name cost before. A name earns the time of its completed
 * calls as credit and pays for its aborted ones. Since any call may be delayed by other work, a name with credit is always
 * run inline. A name without credit is paused for longer after each abort, and all calls of such names together get a
 * small share of the time, except for those that turn out short.
 */
export interface CallCostEstimate {
  mayRunInline(name: string): boolean;
  /** Whether the name has credit: its calls mostly complete in time. */
  isProven(name: string): boolean;
  /** Time limit of a call of that name. */
  limitMs(name: string): number;
  /** A call completed after `tookMs`. */
  completed(name: string, tookMs: number): void;
  /** A call was aborted after `tookMs`. */
  aborted(name: string, tookMs: number): void;
}

/** Time limit of a call with credit, milliseconds. */
export const INLINE_MS = 1;
/**
 * Time limit of a call without credit. Code that has not run here yet takes ten times as long as later, and with the
 * shorter limit would never become warm enough to complete.
 */
export const TRIAL_MS = 3;

const MAX_CREDIT_MS = 20;
/** Maximum cost charged for one call, however long other work delayed it. */
const MAX_COST_MS = TRIAL_MS;
/** Share of the time for names without credit, and the most that may accumulate; what their calls took beyond it is paid back. */
const TRIALS = { perMs: 0.03, capacity: 30, maxDebt: Number.POSITIVE_INFINITY };

interface NameRecord extends Pauses {
  creditMs: number;
}

export function createCallCostEstimate(nowMs: () => number): CallCostEstimate {
  const names = new Map<string, NameRecord>();
  const trialMs = new TokenBucket(TRIALS, nowMs());

  function recordOf(name: string): NameRecord {
    const found = names.get(name) ?? { creditMs: 0, pauses: 0, retryAtMs: 0 };
    // Reinserted, so that the map is ordered by last use.
    names.delete(name);
    names.set(name, found);
    dropOldest(names, NAMES_LIMIT);
    return found;
  }

  function isProven(name: string): boolean {
    return (names.get(name)?.creditMs ?? 0) > 0;
  }

  function limitMs(name: string): number {
    return isProven(name) ? INLINE_MS : TRIAL_MS;
  }

  return {
    isProven,
    limitMs,
    mayRunInline(name) {
      if (isProven(name)) return true;
      const now = nowMs();
      return now >= (names.get(name)?.retryAtMs ?? 0) && trialMs.refill(now) > 0;
    },
    completed(name, tookMs) {
      const record = recordOf(name);
      if (tookMs > INLINE_MS) {
        if (record.creditMs <= 0) trialMs.spend(Math.min(tookMs, MAX_COST_MS));
        return;
      }
      record.creditMs = Math.min(record.creditMs + tookMs, MAX_CREDIT_MS);
      if (record.pauses > 0) record.pauses--;
    },
    aborted(name, tookMs) {
      const record = recordOf(name);
      const costMs = Math.min(tookMs, MAX_COST_MS);
      if (record.creditMs <= 0) trialMs.spend(costMs);
      record.creditMs -= costMs;
      if (record.creditMs > 0) return;
      record.creditMs = 0;
      pause(record, nowMs());
    },
  };
}
