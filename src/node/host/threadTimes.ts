import { readFileSync } from "node:fs";
import type { ThreadTimes } from "../../chain/timing/coreContention.ts";

/**
 * How long the calling thread ran and waited for a core; undefined where the system does not tell, as only Linux does. Takes
 * some 20 µs.
 */
export function threadTimes(): ThreadTimes | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const [ranNs = "", waitedNs = ""] = readFileSync("/proc/thread-self/schedstat", "latin1").split(" ");
    const times = { ranMs: Number(ranNs) / 1e6, waitedMs: Number(waitedNs) / 1e6 };
    // A kernel or sandbox that keeps no statistics shows zeros.
    return times.ranMs > 0 && Number.isFinite(times.waitedMs) ? times : undefined;
  } catch {
    // A sandbox hides the file.
    return undefined;
  }
}

/** CPU time used by all threads of this process, milliseconds. */
export function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
