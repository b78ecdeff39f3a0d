import { readFileSync } from "node:fs";
import type { ThreadTimes } from "../chain/timing/coreContention.ts";

/**
 * How long the calling thread ran and waited for a core; undefined where the system does not tell, as only Linux does. Takes
 * some 20 µs.
 */
export function threadTimes(): ThreadTimes | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const [ranNs = "", waitedNs = ""] = readFileSync("/proc/thread-self/schedstat", "latin1").split(" ");
    const times = { ranMs: Number(ranNs) / 1e6, waitedMs: Number(waitedNs) / 1e6 };
    return Number.isFinite(times.ranMs) && Number.isFinite(times.waitedMs) ? times : undefined;
  } catch {
    // The kernel keeps no such statistics, or a sandbox hides them.
    return undefined;
  }
}
