import { setPriority } from "node:os";

/** Gives this process, and those that it starts, the lowest priority; permanently, unless the user is root. */
export function takeLowestPriority(): void {
  try {
    setPriority(0, 19);
  } catch {
    // The process keeps its priority if changing it is not permitted.
  }
}
