import { readFileSync } from "node:fs";

/** What a process has in memory, as Linux counts it, in bytes. */
export interface ProcessMemory {
  /** Memory that only the process can give back: heaps, caches, what LevelDB has not written yet. */
  readonly ownBytes: number;
  /** Files that it maps, nearly all of them tables of the database: the system takes this back whenever others need it. */
  readonly mappedBytes: number;
}

/** Reads the text of /proc/self/status; undefined where that does not tell, as elsewhere than on Linux. */
export function memoryIn(status: string): ProcessMemory | undefined {
  const own = kilobytesIn(status, "RssAnon");
  const mapped = kilobytesIn(status, "RssFile");
  if (own === undefined || mapped === undefined) return undefined;
  return { ownBytes: own * 1024, mappedBytes: mapped * 1024 };
}

/** What this process has in memory; undefined as above. Reads a file of the system. */
export function processMemory(): ProcessMemory | undefined {
  return memoryIn(readStatus());
}

function kilobytesIn(status: string, name: string): number | undefined {
  const [, digits] = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function readStatus(): string {
  try {
    return readFileSync("/proc/self/status", "utf8");
  } catch {
    return "";
  }
}
