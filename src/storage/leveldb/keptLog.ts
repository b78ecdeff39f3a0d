import { existsSync, linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { syncFolder } from "../../primitives/syncFolder.ts";
import { withDiskErrors } from "../diskErrors.ts";
import { logNumbers, logPath } from "./levelFiles.ts";

/**
 * The newest log of a LevelDB folder under a second name, such as 000012.log.kept, which LevelDB ignores. When LevelDB opens
 * the folder, it moves the log's whole records into a table and deletes the log, together with an incomplete record at its
 * end, which may be all that is left of a block that was durable.
 */
const KEPT = /^\d+\.log\.kept$/;

/**
 * Keeps the newest log, unless one is kept already, from before a loss that is not repaired yet. A hard link costs nothing;
 * a copy is made when the file system has none. Throws DiskError.
 */
export function keepNewestLog(path: string): void {
  withDiskErrors(`The log of the database in ${path} cannot be kept`, () => {
    if (!existsSync(path) || keptLogs(path).length > 0) return;
    const newest = logNumbers(path, 0).at(-1);
    if (newest === undefined) return;
    const log = logPath(path, newest);
    try {
      linkSync(log, `${log}.kept`);
    } catch {
      writeFileSync(`${log}.copy`, readFileSync(log), { flush: true });
      renameSync(`${log}.copy`, `${log}.kept`);
    }
    syncFolder(path);
  });
}

/** The paths of the kept logs. */
export function keptLogs(path: string): readonly string[] {
  return readdirSync(path)
    .filter((name) => KEPT.test(name))
    .map((name) => join(path, name));
}

/** Removes the kept logs, once nothing is missing. Throws DiskError. */
export function dropKeptLogs(path: string): void {
  withDiskErrors(`The kept log of the database in ${path} cannot be removed`, () => {
    for (const kept of keptLogs(path)) rmSync(kept, { force: true });
  });
}
