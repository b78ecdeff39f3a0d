/**
 * Which calls are worth trying at once. A name earns credit by the time of its calls that came to an end, and pays for
 * those that were given up, of which any may have been held up by others' work: one whose calls mostly end is always
 * tried. One without credit is left alone for longer each time that it was given up. All trials of such together have a
 * small share of the time, unless they were short after all.
 */
export interface CallCostEstimate {
  mayRunInline(name: string): boolean;
  /** Whether its calls mostly end in time. */
  isProven(name: string): boolean;
  /** How long a call of that name may take. */
  mostMs(name: string): number;
  /** It came to an end after so long. */
  ended(name: string, tookMs: number): void;
  /** It was given up after so long. */
  abandoned(name: string, tookMs: number): void;
}

/** How long one call may take. */
export const INLINE_MS = 1;
/**
 * How long one may take that is new, or whose last ones took too long: code that has never run here takes ten times as
 * long as it will, and would otherwise never be warm enough to be found short.
 */
export const TRIAL_MS = 3;

const NAMES_LIMIT = 4096;
const MOST_CREDIT_MS = 20;
/** What one call costs at most, however long something else held it up. */
const MOST_COST_MS = TRIAL_MS;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 10_000;
/** Of the time, for names without credit. */
const TRIAL_SHARE = 0.03;
const MOST_TRIAL_MS = 30;

interface Known {
  creditMs: number;
  /** Times that it was left alone, less those that a call of it ended since. */
  pauses: number;
  retryAtMs: number;
}

export function createCallCostEstimate(nowMs: () => number): CallCostEstimate {
  const names = new Map<string, Known>();
  let trialMs = MOST_TRIAL_MS;
  let countedAtMs = nowMs();

  function known(name: string): Known {
    const found = names.get(name) ?? { creditMs: 0, pauses: 0, retryAtMs: 0 };
    // Those used last are kept.
    names.delete(name);
    names.set(name, found);
    const [oldest] = names.size > NAMES_LIMIT ? names.keys() : [];
    if (oldest !== undefined) names.delete(oldest);
    return found;
  }

  function isTimeForTrials(now: number): boolean {
    trialMs = Math.min(MOST_TRIAL_MS, trialMs + (now - countedAtMs) * TRIAL_SHARE);
    countedAtMs = now;
    return trialMs > 0;
  }

  function isProven(name: string): boolean {
    return (names.get(name)?.creditMs ?? 0) > 0;
  }

  function mostMs(name: string): number {
    return isProven(name) ? INLINE_MS : TRIAL_MS;
  }

  return {
    isProven,
    mostMs,
    mayRunInline(name) {
      if (isProven(name)) return true;
      const now = nowMs();
      return now >= (names.get(name)?.retryAtMs ?? 0) && isTimeForTrials(now);
    },
    ended(name, tookMs) {
      const call = known(name);
      if (tookMs > INLINE_MS) {
        if (call.creditMs <= 0) trialMs -= Math.min(tookMs, MOST_COST_MS);
        return;
      }
      call.creditMs = Math.min(call.creditMs + tookMs, MOST_CREDIT_MS);
      if (call.pauses > 0) call.pauses--;
    },
    abandoned(name, tookMs) {
      const call = known(name);
      const costMs = Math.min(tookMs, MOST_COST_MS);
      if (call.creditMs <= 0) trialMs -= costMs;
      call.creditMs -= costMs;
      if (call.creditMs > 0) return;
      call.creditMs = 0;
      call.retryAtMs = nowMs() + Math.min(FIRST_PAUSE_MS * 2 ** call.pauses, LONGEST_PAUSE_MS);
      call.pauses++;
    },
  };
}
