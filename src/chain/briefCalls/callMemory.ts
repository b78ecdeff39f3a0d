/**
 * Which calls are worth trying at once. A name earns credit by the time of its calls that came to an end, and pays for
 * those that were given up, of which any may have been held up by others' work: one whose calls mostly end is always
 * tried. One without credit is left alone for longer each time, and all such trials together have a small share of the
 * time.
 */
export interface CallMemory {
  mayTry(name: string): boolean;
  /** Whether its calls mostly end in time. */
  isProven(name: string): boolean;
  /** It came to an end after so long. */
  wasBrief(name: string, tookMs: number): void;
  /** It was given up after so long. */
  wasLong(name: string, tookMs: number): void;
}

const NAMES_LIMIT = 4096;
const MOST_CREDIT_MS = 20;
/** What one call costs at most, however long something else held it up. */
const MOST_COST_MS = 2;
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

export function createCallMemory(nowMs: () => number): CallMemory {
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

  return {
    isProven,
    mayTry(name) {
      if (isProven(name)) return true;
      const now = nowMs();
      return now >= (names.get(name)?.retryAtMs ?? 0) && isTimeForTrials(now);
    },
    wasBrief(name, tookMs) {
      const call = known(name);
      call.creditMs = Math.min(call.creditMs + tookMs, MOST_CREDIT_MS);
      if (call.pauses > 0) call.pauses--;
    },
    wasLong(name, tookMs) {
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
