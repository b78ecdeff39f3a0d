import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";

/** Seconds of a processor that all threads of a program have taken since its start; Linux only. */
export function cpuSeconds({ child }: { readonly child: ChildProcess }): number {
  const [user = 0, system = 0] = (readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1] ?? "")
    .split(" ")
    .slice(11, 13)
    .map(Number);
  return (user + system) / 100;
}
