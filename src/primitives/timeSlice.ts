/** The time that a job may take before others have their turn; it is then begun anew elsewhere. */
export interface TimeSlice {
  isUsedUp(): boolean;
  /** Gives the job up. Throws SliceUsedUp. */
  giveUp(): never;
}

/** A job did not end within its slice: not an outcome of the job, which is begun anew. */
export class SliceUsedUp extends Error {
  override name = "SliceUsedUp";
}

/** A slice that ends at `endMs` on this clock. */
export function timeSliceUntil(endMs: number, nowMs: () => number): TimeSlice {
  return {
    isUsedUp: () => nowMs() >= endMs,
    giveUp() {
      throw new SliceUsedUp("the job takes longer than its first slice");
    },
  };
}
