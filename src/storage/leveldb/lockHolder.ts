import { readFileSync, statSync } from "node:fs";

/**
 * The id of the process that has a lock on the file, from Linux's /proc/locks; undefined on other systems and for a
 * process in another container.
 */
export function lockHolder(path: string): number | undefined {
  try {
    return holderIn(readFileSync("/proc/locks", "utf8"), statSync(path).ino);
  } catch {
    return undefined;
  }
}

/**
 * Finds the process in lines such as `1: POSIX  ADVISORY  WRITE 4123 08:01:262154 0 EOF`. Ignores the device: layered file systems have several.
 */
function holderIn(locks: string, inode: number): number | undefined {
  for (const line of locks.split("\n")) {
    const [, , , , pid, file] = line.split(/\s+/);
    if (file?.split(":").at(-1) === `${inode}` && Number(pid) > 0) return Number(pid);
  }
  return undefined;
}
