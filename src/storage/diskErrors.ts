import { REMEDY } from "./checksum.ts";
import { DamagedData, DiskError, FolderInUse } from "./database.ts";

/**
 * Translates an error of LevelDB or Node into one that says `what` went wrong, the system's reason, and what an operator can
 * do: `remedy` when data is damaged. Returns errors that do not come from the disk unchanged.
 */
export function translateDiskError(error: unknown, what: string, remedy = REMEDY): Error {
  if (error instanceof DamagedData || error instanceof DiskError) return error;
  const causes = causesOf(error);
  const codes = causes.map(codeOf);
  const reason = causes.at(-1)?.message ?? String(error);
  if (codes.includes("LEVEL_CORRUPTION") || /^Corruption:/.test(reason))
    return new DamagedData(`${what}: ${reason}. ${remedy}`, { cause: error });
  if (codes.includes("LEVEL_LOCKED") || /^IO error: lock /i.test(reason))
    return new FolderInUse(`${what}: ${reason}. ${STOP_THE_OTHER}`, { cause: error });
  const advice = ADVICE.find(([pattern, code]) => codes.includes(code) || pattern.test(reason))?.[2];
  if (advice !== undefined) return new DiskError(`${what}: ${reason}. ${advice}`, { cause: error });
  if (codes.some((code) => code !== undefined && SYSTEM_ERROR.test(code)) || /^IO error:/.test(reason))
    return new DiskError(`${what}: ${reason}. Check the disk, then start the node again.`, {
      cause: error,
    });
  return error instanceof Error ? error : new Error(reason);
}

/**
 * The disk error that ended a worker thread, recognised by name and message, which is all that crosses threads. Undefined
 * for any other error.
 */
export function diskErrorOfThread(error: Error): DiskError | DamagedData | undefined {
  if (error.name === "DamagedData") return new DamagedData(error.message, { cause: error });
  return error.name === "DiskError" ? new DiskError(error.message, { cause: error }) : undefined;
}

/** True when the disk refuses every write: full, mounted read-only, failing. */
export function isDiskAtFault(error: unknown): boolean {
  const codes = causesOf(error).map(codeOf);
  return ["ENOSPC", "EDQUOT", "EROFS", "EIO"].some((code) => codes.includes(code));
}

/** Runs `action` and translates the disk errors that it throws. */
export function withDiskErrors<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw translateDiskError(error, what);
  }
}

/** Error codes of LevelDB and of the operating system; Node's own begin with ERR_. */
const SYSTEM_ERROR = /^(LEVEL_IO_ERROR|E[A-Z0-9]+)$/;

const STOP_THE_OTHER =
  "Another node is using this data folder: stop it; or, if this is to be another node, give it a folder and a key of its own (--data-path).";

const MAY_NOT_WRITE =
  "This user may not write there: change the owner of the folder, or choose another --data-path.";

export const TOO_FEW_OPEN_FILES =
  "Too few open files are allowed: raise the limit (ulimit -n 4096), then start the node again.";

/** What an operator can do, by the system's message (as LevelDB quotes it) or by the code of the error. */
const ADVICE: readonly (readonly [reason: RegExp, code: string, advice: string])[] = [
  [/No space left/i, "ENOSPC", "The disk is full: make room, then start the node again."],
  [
    /quota exceeded/i,
    "EDQUOT",
    "The disk quota is used up: raise it or make room, then start the node again.",
  ],
  [
    /File too large/i,
    "EFBIG",
    "Files may not grow that large here: raise the limit (ulimit -f), then start the node again.",
  ],
  [
    /Read-only file system/i,
    "EROFS",
    "The disk is mounted read-only: mount it writable, or choose another --data-path.",
  ],
  [/Permission denied/i, "EACCES", MAY_NOT_WRITE],
  [/Operation not permitted/i, "EPERM", MAY_NOT_WRITE],
  [/Too many open files/i, "EMFILE", TOO_FEW_OPEN_FILES],
  [/Not a directory/i, "ENOTDIR", "A file stands where the folder should be: choose another --data-path."],
];

/** The error and its causes, outermost first. */
function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let next = error; next instanceof Error && causes.length < 10; next = next.cause) causes.push(next);
  return causes;
}

function codeOf(error: Error): string | undefined {
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}
