import { rmSync, writeFileSync } from "node:fs";
import { messageOf } from "../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { writeWhole } from "../primitives/wholeFile.ts";
import { isDiskAtFault } from "../storage/diskErrors.ts";

/** A file with the process id while the node runs, for health checks and start scripts. */
interface PidFile {
  remove(): void;
}

/** Writes the file, if there is a path; fails when it cannot be written. */
export function writePidFile(
  path: string | undefined,
  processId: number,
): Result<PidFile, "unusablePidFile" | "diskFailure"> {
  if (path === undefined) return ok({ remove: () => undefined });
  try {
    writeWhole(path, `${processId}`);
  } catch (error) {
    const reason = messageOf(error);
    return fail(
      "local",
      isDiskAtFault(error) ? "diskFailure" : "unusablePidFile",
      `The file ${path} named by --pid-path cannot be written: ${reason}`,
    );
  }
  return ok({ remove: () => removeFile(path) });
}

/** Removes the file, or empties it if its folder is not writable. */
function removeFile(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    writeFileSync(path, "");
  }
}
