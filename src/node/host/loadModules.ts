import { DiskError } from "../../storage/database.ts";
import { TOO_FEW_OPEN_FILES } from "../../storage/diskErrors.ts";
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

/** Throws DiskError where a node cannot open its databases, ports and threads, whichever of them would be the first to fail. */
export function requireOpenFiles(): void {
  const { openFiles } = hostLimits();
  if (openFiles !== undefined && openFiles < FEWEST_OPEN_FILES)
    throw new DiskError(
      `A node cannot start with fewer than ${FEWEST_OPEN_FILES} open files, and the limit is ${openFiles}. ${TOO_FEW_OPEN_FILES}`,
    );
}

/** Some fifty for databases, ports, threads and the process that copies ports, and as many for what threads load. */
const FEWEST_OPEN_FILES = 100;
const OPEN_FILES_WHILE_LOADING = 512;
