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

/** The length of a slice, milliseconds. */
export interface SliceLimits {
  /** Time on a processor. */
  readonly cpuMs: number;
  /** Time that passes at most, also where the thread has to wait for a processor. */
  readonly longestMs: number;
}

/** The clocks of a slice, milliseconds. */
export interface SliceClocks {
  nowMs(): number;
  /** Time that this thread had a processor. */
  cpuMs(): number;
}

/** Begins a slice now. */
export function beginTimeSlice(limits: SliceLimits, { nowMs, cpuMs }: SliceClocks): TimeSlice {
  const [startMs, startCpuMs] = [nowMs(), cpuMs()];
  const lastMs = startMs + limits.longestMs;
  let checkAtMs = startMs + limits.cpuMs;
  return {
    isUsedUp() {
      const now = nowMs();
      if (now < checkAtMs) return false;
      const leftMs = limits.cpuMs - (cpuMs() - startCpuMs);
      if (leftMs <= 0 || now >= lastMs) return true;
      checkAtMs = Math.min(now + leftMs, lastMs);
      return false;
    },
    giveUp() {
      throw new SliceUsedUp("the job takes longer than its first slice");
    },
  };
}
