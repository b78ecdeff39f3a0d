import { DiskError } from "../storage/database.ts";
import { TOO_FEW_OPEN_FILES } from "../storage/diskErrors.ts";
import { hostLimits } from "./hostLimits.ts";

/** Imports a part of the program. Throws DiskError when the limit of open files is too low for that. */
export async function loadModules<T>(load: () => Promise<T>): Promise<T> {
  // Read first, because afterwards there may be no file descriptor left.
  const { openFiles } = hostLimits();
  try {
    return await load();
  } catch (error) {
    // Node.js opens many modules at once; when that fails, it sometimes reports a missing package.
    const isShort = openFiles !== undefined && openFiles < OPEN_FILES_WHILE_LOADING;
    throw isShort
      ? new DiskError(`The program cannot be loaded. ${TOO_FEW_OPEN_FILES}`, { cause: error })
      : error;
  }
}

const OPEN_FILES_WHILE_LOADING = 512;
