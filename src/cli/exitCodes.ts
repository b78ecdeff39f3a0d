import { DamagedData, DiskError, FolderInUse, OtherSchema, UnfinishedImport } from "../storage/database.ts";

/**
 * Exit codes of the process (options.md#exit-codes). Service managers treat anything but 0 as a failure.
 */
export const EXIT = {
  /** Success, including a clean stop after SIGTERM or SIGINT. */
  ok: 0,
  /** An internal error, or a command that failed. */
  failed: 1,
  /** The node could not start as configured: bad options, bad genesis, a port or folder in use. */
  badInput: 2,
  /** Two nodes were compared, and answers differ without explanation. */
  differs: 3,
  /** Two nodes were compared, but not completely, because one was away or did not answer. */
  incomplete: 4,
  /** The disk is full or failing, or the database is damaged (EX_IOERR). */
  disk: 74,
} as const;

/** The exit code of an error that ended the process or command. */
export function exitCodeOf(error: unknown): number {
  const isAboutTheFolder = [FolderInUse, OtherSchema, UnfinishedImport].some((kind) => error instanceof kind);
  if (isAboutTheFolder) return EXIT.badInput;
  return error instanceof DiskError || error instanceof DamagedData ? EXIT.disk : EXIT.failed;
}
