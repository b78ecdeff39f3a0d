import { DiskError } from "../storage/database.ts";
import { TOO_FEW_OPEN_FILES } from "../storage/diskErrors.ts";
import { hostLimits } from "./hostLimits.ts";

/** Imports a part of the program. Throws DiskError where too few open files are allowed for that. */
export async function loadModules<T>(load: () => Promise<T>): Promise<T> {
  // Asked first: afterwards there may be no file left to ask with.
  const { openFiles } = hostLimits();
  try {
    return await load();
  } catch (error) {
    // Node.js opens some hundred modules side by side; when it may not, it says at times that a package is missing.
    const isShort = openFiles !== undefined && openFiles < OPEN_FILES_WHILE_LOADING;
    throw isShort
      ? new DiskError(`The program cannot be loaded. ${TOO_FEW_OPEN_FILES}`, { cause: error })
      : error;
  }
}

const OPEN_FILES_WHILE_LOADING = 512;
