import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "../runningProcess.ts";

/**
 * Creates a work folder for this process. Its name has the process id, so that the next command can remove what a kill left.
 */
export function makeWorkFolder(parent: string, processId: number): string {
  removeUnfinished(parent);
  const folder = join(parent, `${PREFIX}${processId}${SUFFIX}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Removes the work folders of processes that have ended. */
function removeUnfinished(parent: string): void {
  for (const name of readdirSync(parent)) {
    const id =
      name.startsWith(PREFIX) && name.endsWith(SUFFIX) ? name.slice(PREFIX.length, -SUFFIX.length) : "";
    if (/^\d+$/.test(id) && !isRunning(Number(id)))
      rmSync(join(parent, name), { recursive: true, force: true });
  }
}

const PREFIX = "backup-";
const SUFFIX = ".unfinished";
