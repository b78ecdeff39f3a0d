import { statfsSync } from "node:fs";
import { resumeBytes } from "../../storage/diskGuard.ts";
import { bytesIn, findDatabase } from "../databasePaths.ts";
import type { Finding } from "./findings.ts";
import { bytesText } from "./units.ts";

export interface DiskFacts {
  /** Undefined when the system does not say. */
  readonly freeBytes: number | undefined;
  /** Undefined when there is no database, or this user may not read it. */
  readonly databaseBytes: number | undefined;
}

export function diskFacts(dataPath: string): DiskFacts {
  return {
    freeBytes: attempt(() => {
      const { bavail, bsize } = statfsSync(dataPath);
      return bavail * bsize;
    }),
    databaseBytes: attempt(() => {
      const paths = findDatabase(dataPath);
      return paths.ok ? bytesIn(paths.value.chain) : undefined;
    }),
  };
}

/** A multiple of the reserve, as the node's own warning has. */
const SCARCE = 4;

export function judgeDisk({ freeBytes }: DiskFacts, reserveBytes: number): readonly Finding[] {
  if (freeBytes === undefined || freeBytes >= reserveBytes * SCARCE) return [];
  return [
    {
      level: freeBytes < reserveBytes ? "problem" : "warning",
      what: `${bytesText(freeBytes)} are free on the disk. Below ${bytesText(reserveBytes)} (--min-free-disk-mb) the node makes no blocks, until ${bytesText(resumeBytes(reserveBytes))} are free again.`,
      advice: "Make room or enlarge the disk.",
    },
  ];
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
