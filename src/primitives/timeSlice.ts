/** The time that a job may take before others have their turn; it is then started again elsewhere. */
export interface TimeSlice {
  isUsedUp(): boolean;
  /** Gives the job up. Throws SliceUsedUp. */
  giveUp(): never;
}

/** A job did not end within its slice. This is not an outcome of the job, which is started again. */
export class SliceUsedUp extends Error {
  override name = "SliceUsedUp";
}

/** The clocks of a slice, milliseconds. */
export interface SliceClocks {
  nowMs(): number;
  /** Time that this thread had a processor. */
  cpuMs(): number;
}

/**
 * Begins a slice of `sliceMs` on a processor: while the thread has to wait for one, the slice lasts up to LONGEST_FACTOR
 * times as long.
 */
export function beginTimeSlice(sliceMs: number, { nowMs, cpuMs }: SliceClocks): TimeSlice {
  const [startMs, startCpuMs] = [nowMs(), cpuMs()];
  const lastMs = startMs + sliceMs * LONGEST_FACTOR;
  let checkAtMs = startMs + sliceMs;
  return {
    isUsedUp() {
      const now = nowMs();
      if (now < checkAtMs) return false;
      const leftMs = sliceMs - (cpuMs() - startCpuMs);
      if (leftMs <= 0 || now >= lastMs) return true;
      checkAtMs = Math.min(now + leftMs, lastMs);
      return false;
    },
    giveUp() {
      throw new SliceUsedUp("the job takes longer than its first slice");
    },
  };
}

const LONGEST_FACTOR = 5;
