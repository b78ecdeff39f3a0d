import { readFileSync } from "node:fs";

/** Time that this thread had a processor, milliseconds; the time that passed where the system does not tell. */
export function threadCpuMs(): number {
  try {
    return Number.parseInt(readFileSync("/proc/thread-self/schedstat", "latin1"), 10) / 1e6;
  } catch {
    return performance.now();
  }
}
