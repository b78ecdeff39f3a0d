import { getPriority, setPriority } from "node:os";

/**
 * Lowers the priority of the calling worker thread below the threads that build and validate blocks, in this and other
 * processes. This matters only while there are more busy threads than cores. Only Linux has priorities of threads;
 * elsewhere, and where a sandbox forbids it, this does nothing.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== "linux") return;
  try {
    // On Linux, 0 is the calling thread, not the process.
    setPriority(0, Math.min(getPriority(0) + ADDED_NICENESS, MAX_NICENESS));
  } catch {
    // Not permitted: the thread keeps its priority.
  }
}

/** As lowerThreadPriority, below all others: for work that nobody waits for. */
export function takeLowestThreadPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, MAX_NICENESS);
  } catch {
    // Not permitted: the thread keeps its priority.
  }
}

/** Niceness added: shares a contended core about one to three. */
const ADDED_NICENESS = 5;
const MAX_NICENESS = 19;
