import { type Clock, durationClock } from "../../primitives/clock.ts";

/** Names that are warned of within FORGOTTEN_AFTER_MS; a caller can send any. */
const WARNED_NAMES = 10;
const FORGOTTEN_AFTER_MS = 3_600_000;

/** Bounds warnings that callers can provoke: of each name once in an hour, and of ten names. */
export interface WarnedNames {
  /** Whether the operator is to be warned of it now. */
  isNew(name: string): boolean;
}

export function createWarnedNames(clock: Clock = durationClock): WarnedNames {
  const warned = new Set<string>();
  let since = clock.nowMs();
  return {
    isNew(name) {
      if (clock.nowMs() - since > FORGOTTEN_AFTER_MS) {
        warned.clear();
        since = clock.nowMs();
      }
      if (warned.size >= WARNED_NAMES || warned.has(name)) return false;
      warned.add(name);
      return true;
    },
  };
}
