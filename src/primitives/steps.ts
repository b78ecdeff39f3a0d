import type { Pacer } from "./pacer.ts";

/**
 * Long work in steps of a few hundred microseconds, with a `yield` after each. The driver yields to the event loop
 * there (inSteps), or continues at once. The data that the work reads must not change
 * meanwhile; if it does, the driver abandons the generator.
 */
export type Steps<T> = Generator<unknown, T, void>;

/** Runs all steps without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Runs all steps, and yields between two of them when the pacer says so. Throws what its `yield` throws. */
export async function inSteps<T>(steps: Steps<T>, pacer: Pacer): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (pacer.isDue()) await pacer.yield();
  }
}

/** Decides when a step has gone over enough bytes, whatever they belong to. */
export class StepMeter {
  private bytes = 0;

  /** Counts work; true when the step should end. */
  isFull(bytes: number): boolean {
    this.bytes += bytes;
    if (this.bytes < STEP_BYTES) return false;
    this.bytes = 0;
    return true;
  }
}

/** Copies bytes of any length, with pauses between pieces but not at the end. */
export function* copyInSteps(into: Uint8Array, at: number, bytes: Uint8Array): Steps<void> {
  for (let done = 0; done < bytes.length; done += STEP_BYTES) {
    if (done > 0) yield;
    into.set(bytes.subarray(done, done + STEP_BYTES), at + done);
  }
}

/** Bytes copied in less than half a millisecond, even into memory that is touched for the first time. */
export const STEP_BYTES = 256 * 1024;
