import { dropOldest } from "../../primitives/boundedCache.ts";

/** Time for one call. A call that needs more is restarted on a thread that can be terminated, and loses that time. */
export const CALL_SLICE_MS = 4;

/** The record of a name whose calls did not end within a slice. */
interface Pauses {
  /** Number of pauses, minus completed calls since. */
  pauses: number;
  /** Time before which calls of the name do not run inline. */
  retryAtMs: number;
}

/** Maximum number of names kept, the most recently used. */
const NAMES_LIMIT = 4096;
const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 10_000;

/** Gives every call a slice, except those whose name did not end within one lately: their pauses double. */
export class SliceCosts {
  private readonly nowMs: () => number;
  private readonly long = new Map<string, Pauses>();

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  mayRunInline(name: string): boolean {
    return this.nowMs() >= (this.long.get(name)?.retryAtMs ?? 0);
  }

  completed(name: string): void {
    const record = this.long.get(name);
    if (record !== undefined && --record.pauses === 0) this.long.delete(name);
  }

  /** Begins a pause, twice as long as the one before. */
  aborted(name: string): void {
    const record = this.long.get(name) ?? { pauses: 0, retryAtMs: 0 };
    record.retryAtMs = this.nowMs() + Math.min(FIRST_PAUSE_MS * 2 ** record.pauses, MAX_PAUSE_MS);
    record.pauses++;
    // The name is reinserted, so that the map is ordered by the last abort.
    this.long.delete(name);
    this.long.set(name, record);
    dropOldest(this.long, NAMES_LIMIT);
  }
}
