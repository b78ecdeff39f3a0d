import { setPriority } from "node:os";

/** Gives this process, and those that it starts, the lowest priority; for good, where the user is not root. */
export function takeLowestPriority(): void {
  try {
    setPriority(0, 19);
  } catch {
    // Not permitted: it keeps its priority.
  }
}
