import {
  closeSync,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { REMEDY } from "../checksum.ts";
import { DamagedData, DiskError } from "../database.ts";
import { translateDiskError } from "../diskErrors.ts";
import { currentManifest, logNumbers, logPath, tablePath } from "./levelFiles.ts";
import { readLog } from "./levelLog.ts";
import { versionOf } from "./levelManifest.ts";

/**
 * Makes in the empty folder `to`, on the same file system, a LevelDB folder as `from` was between two of its writes, while
 * another process may have it open and write. Tables are hard links, which cost no room; the rest are copies. Throws
 * DiskError, and DamagedData when the manifest is damaged.
 *
 * LevelDB never changes a table. It only appends to its log and its manifest, and deletes a file only when the manifest no
 * longer names it. So a prefix of the manifest, all tables that it names, and a prefix of the logs from the one that it
 * names are the contents of one moment: what a kill at that moment would have left. If a file is gone before it is linked,
 * the manifest has grown, and the copy starts over; links made before are kept.
 *
 * The manifest is synced first. Otherwise a power cut could undo its newest edit, and LevelDB could use the number of a
 * table that only this edit names for another table, whose file would be the linked one.
 */
export function copyLevelFolder(from: string, to: string): void {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      if (copyOnce(from, to)) return;
    } catch (error) {
      if (codeOf(error) !== "ENOENT")
        throw translateDiskError(error, `The database in ${from} cannot be copied`);
    }
  }
  throw new DiskError(
    `The database in ${from} changed too quickly to be copied. Try again when the node writes less, or stop it first.`,
  );
}

/** Most attempts: each takes some milliseconds per thousand tables, and tables are replaced every few seconds under load. */
const ATTEMPTS = 100;

/**
 * Tries once; false when LevelDB was in the middle of a write to the manifest, or has ended the log that the manifest names.
 */
function copyOnce(from: string, to: string): boolean {
  const manifestPath = currentManifest(from);
  if (manifestPath === undefined)
    throw new DamagedData(`The database is damaged: ${join(from, "CURRENT")} names no manifest. ${REMEDY}`);
  const manifest = readSynced(manifestPath);
  const { records, damagedAt, isTorn } = readLog(manifest);
  if (damagedAt !== undefined)
    throw new DamagedData(
      `The database is damaged: ${manifestPath} does not match its checksum at byte ${damagedAt}. ${REMEDY}`,
    );
  const { tables, logNumber } = versionOf(records);
  if (isTorn || logNumber === 0) return false;
  const linked = new Set([...tables.keys()].map((number) => linkTable(from, to, number)));
  for (const name of readdirSync(to)) if (!linked.has(name)) rmSync(join(to, name));
  const logs = logNumbers(from, logNumber);
  if (logs[0] !== logNumber) return false;
  for (const number of logs) copyFileSync(logPath(from, number), logPath(to, number));
  writeFileSync(join(to, basename(manifestPath)), manifest);
  writeFileSync(join(to, "CURRENT"), `${basename(manifestPath)}\n`);
  return true;
}

/** Returns the table's file name. Throws ENOENT when it is gone. */
function linkTable(from: string, to: string, number: number): string {
  const path = tablePath(from, number) ?? join(from, `${number}.ldb`);
  const name = basename(path);
  try {
    linkSync(path, join(to, name));
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  return name;
}

function readSynced(path: string): Uint8Array {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
