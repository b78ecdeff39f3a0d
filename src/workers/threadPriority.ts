import { getPriority, setPriority } from "node:os";

/**
 * Lowers the priority of the calling worker thread below the threads that build and validate blocks, in this and other
 * processes. This matters only while there are more busy threads than cores. Only Linux has priorities of threads;
 * elsewhere, and where a sandbox forbids it, this does nothing. `addedNiceness` is how much, one of the two below.
 */
export function lowerThreadPriority(addedNiceness: number): void {
  if (process.platform !== "linux") return;
  try {
    // On Linux, 0 is the calling thread, not the process.
    setPriority(0, Math.min(getPriority(0) + addedNiceness, MAX_NICENESS));
  } catch {
    // Not permitted: the thread keeps its priority.
  }
}

/** Gives the calling worker thread the lowest priority of all, for work that nobody waits for. */
export function takeLowestThreadPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, MAX_NICENESS);
  } catch {
    // Not permitted: the thread keeps its priority.
  }
}

/** Shares a contended core about one to three with the threads that build and validate blocks. */
export const OF_LONG_WORK = 5;
/**
 * Two to three: a thread that answers callers has little to do for each, and would otherwise wait behind the recovery of
 * senders and long calls. With 2,000 transfers a second on two cores the slowest hundredth of short reads took 10 to 16 ms
 * instead of 29 to 43 ms, and blocks under the heaviest calls stayed as they were.
 */
export const OF_CALLERS = 2;
const MAX_NICENESS = 19;
