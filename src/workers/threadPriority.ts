import { getPriority, setPriority } from "node:os";

/**
 * Lets the worker thread that calls this come after the threads that make and check blocks, its own process's and those
 * of others, whenever there are more of them than cores. With idle cores it is as fast as before. Only Linux knows
 * priorities of threads; elsewhere, and where a sandbox forbids it, this does nothing.
 */
export function comeAfterBlocks(): void {
  if (process.platform !== "linux") return;
  try {
    // Here, 0 is the calling thread, not the process.
    setPriority(0, Math.min(getPriority(0) + LESS_URGENT, MOST_PATIENT));
  } catch {
    // The thread works all the same.
  }
}

/** A core that both want is shared about three to one. */
const LESS_URGENT = 5;
const MOST_PATIENT = 19;
