/** Time that a thread ran, and time that it was ready to run but waited for a core, milliseconds since it started. */
export interface ThreadTimes {
  readonly ranMs: number;
  readonly waitedMs: number;
}

/** Shortest time over which the slowdown can be measured, milliseconds: the kernel counts in ticks of up to 10 ms. */
export const SHORTEST_CONTENTION_MS = 30;
/** Upper bound, so that one bad moment does not shrink the next block to a small part. */
const MAX_SLOWDOWN = 4;

/**
 * Measures how much longer this thread's work takes than it would on free cores, because other threads and processes use
 * them: 1 when it never waits for a core, 2 when it waits as long as it runs.
 */
export class CoreContention {
  private readonly read: () => ThreadTimes | undefined;

  /** `read` returns the times of this thread; it is absent, or returns undefined, if the system does not report them. */
  constructor(read: () => ThreadTimes | undefined = () => undefined) {
    this.read = read;
  }

  /** Begins a measurement. */
  mark(): ThreadTimes | undefined {
    return this.read();
  }

  /** The slowdown since the mark, from 1 to MAX_SLOWDOWN; undefined when unknown. */
  slowdownSince(mark: ThreadTimes | undefined): number | undefined {
    const now = mark === undefined ? undefined : this.read();
    if (mark === undefined || now === undefined) return undefined;
    const ranMs = now.ranMs - mark.ranMs;
    const waitedMs = Math.max(0, now.waitedMs - mark.waitedMs);
    if (ranMs + waitedMs < SHORTEST_CONTENTION_MS) return undefined;
    return Math.min(MAX_SLOWDOWN, 1 + waitedMs / Math.max(1, ranMs));
  }
}
