import type { Clock } from "../primitives/clock.ts";

/** Lets the rest of the thread breathe during long work: consensus and callers wait some milliseconds, not seconds. */
export interface Pace {
  /** True when it is time to rest. Cheap enough to be asked at every jump of a contract. */
  isDue(): boolean;
  /** Comes back when others had their turn. Throws OutOfTime once the deadline has passed. */
  rest(): Promise<void>;
}

/** Work was stopped in the middle because its time was up. */
export class OutOfTime extends Error {
  override name = "OutOfTime";
}

export interface PaceSettings {
  /** Wall-clock time at which the work must end. */
  readonly deadlineMs?: number;
}

/**
 * Rests every SLICE_MS milliseconds; less often where others have so much to do that they would take most of the thread.
 */
export function createPace(clock: Pick<Clock, "nowMs">, settings: PaceSettings = {}): Pace {
  const deadlineMs = settings.deadlineMs ?? Number.POSITIVE_INFINITY;
  let restAtMs = clock.nowMs() + SLICE_MS;
  return {
    isDue: () => {
      const nowMs = clock.nowMs();
      return nowMs >= restAtMs || nowMs >= deadlineMs;
    },
    async rest() {
      const begunMs = clock.nowMs();
      if (begunMs >= deadlineMs) throw new OutOfTime("the time for this work is up");
      await new Promise<void>((resolve) => setImmediate(resolve));
      const nowMs = clock.nowMs();
      restAtMs = nowMs + Math.min(Math.max(SLICE_MS, 2 * (nowMs - begunMs)), LONGEST_SLICE_MS);
    },
  };
}

const SLICE_MS = 10;
/** What a caller may have to wait for, and each message on its way to a block. */
const LONGEST_SLICE_MS = 200;

/** For threads that have nothing else to do and are ended from outside. */
export const TIRELESS: Pace = {
  isDue: () => false,
  rest: () => Promise.resolve(),
};
