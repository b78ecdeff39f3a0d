import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A control group of Linux: its processes have as much memory as a small machine. */
export interface SmallMachine {
  /** Words before a command that start it there. */
  readonly launcher: readonly string[];
  /** The most that it had at one time, cached files included, in bytes, and how often the limit was met. */
  peak(): { readonly bytes: number; readonly refusals: number };
  /** Once its processes have ended. */
  remove(): void;
}

const GROUPS = "/sys/fs/cgroup";

/** Makes a machine of so many MB. Throws where this user may not, or the system has no control groups. */
export function makeSmallMachine(megabytes: number): SmallMachine {
  const isUnified = existsSync(join(GROUPS, "cgroup.controllers"));
  const folder = join(GROUPS, ...(isUnified ? [] : ["memory"]), `ibex-bench-${process.pid}`);
  mkdirSync(folder);
  writeFileSync(
    join(folder, isUnified ? "memory.max" : "memory.limit_in_bytes"),
    `${Math.floor(megabytes * 1024 ** 2)}`,
  );
  const read = (file: string): string => readFileSync(join(folder, file), "utf8");
  return {
    launcher: ["/bin/sh", "-c", `echo $$ > ${join(folder, "cgroup.procs")} && exec "$@"`, "sh"],
    peak: () =>
      isUnified
        ? {
            bytes: Number(read("memory.peak")),
            refusals: Number(/^max (\d+)/m.exec(read("memory.events"))?.[1] ?? 0),
          }
        : {
            bytes: Number(read("memory.max_usage_in_bytes")),
            refusals: Number(read("memory.failcnt")),
          },
    remove: () => rmdirSync(folder),
  };
}
