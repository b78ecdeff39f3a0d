import { statfsSync } from "node:fs";
import { resumeBytes } from "../../storage/diskGuard.ts";
import { bytesIn, findDatabase } from "../databasePaths.ts";
import type { Finding } from "./findings.ts";
import { bytesText } from "./units.ts";

export interface DiskStatus {
  /** Free bytes; undefined when the system does not say. */
  readonly freeBytes: number | undefined;
  /** Size of the database; undefined when there is none, or this user may not read it. */
  readonly databaseBytes: number | undefined;
}

export function diskStatus(dataPath: string): DiskStatus {
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

/** Multiple of the reserve below which space counts as scarce, as in the node's own warning. */
const SCARCE = 4;

export function judgeDisk({ freeBytes }: DiskStatus, reserveBytes: number): readonly Finding[] {
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
