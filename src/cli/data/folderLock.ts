import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { isRunning, startOf } from "../runningProcess.ts";

/** A lock held by the one export that writes to a folder. */
export interface FolderLock {
  release(): void;
}

/**
 * Takes the lock at `path`, a file with the id of its process. A lock whose process has ended is replaced, so a kill blocks
 * nobody. Throws errors of the file system.
 */
export function lockFolder(path: string, processId: number): Result<FolderLock, "inUse"> {
  for (let tries = 0; tries < 2; tries++) {
    try {
      writeFileSync(path, `${processId} ${startOf(processId)}\n`, { flag: "wx" });
      return ok({ release: () => rmSync(path, { force: true }) });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    const holder = holderOf(path);
    if (holder !== undefined && holder !== processId) return inUse(holder);
    rmSync(path, { force: true });
  }
  return inUse(undefined);
}

/** The process that has the lock, unless it has ended. */
function holderOf(path: string): number | undefined {
  const [, id, start] = /^(\d+) (\S*)\n$/.exec(readFileSync(path, "utf8")) ?? [];
  if (id === undefined) return undefined;
  return isRunning(Number(id)) && startOf(Number(id)) === start ? Number(id) : undefined;
}

function inUse(holder: number | undefined): Result<never, "inUse"> {
  const which = holder === undefined ? "" : `, process ${holder}`;
  return fail("caller", "inUse", `Another export writes to this folder${which}.`);
}
