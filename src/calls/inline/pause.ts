/** What is remembered of the calls of a name that did not end in time. */
export interface Pauses {
  /** Number of pauses, less completed calls since. */
  pauses: number;
  /** Before then, calls of the name do not run inline. */
  retryAtMs: number;
}

/** Maximum number of names kept, the last used ones. */
export const NAMES_LIMIT = 4096;
const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 10_000;

/** Begins a pause after a call that did not end in time, twice as long as the one before. */
export function pause(record: Pauses, nowMs: number): void {
  record.retryAtMs = nowMs + Math.min(FIRST_PAUSE_MS * 2 ** record.pauses, MAX_PAUSE_MS);
  record.pauses++;
}
