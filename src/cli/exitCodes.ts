import { DamagedData, DiskError, FolderInUse } from "../storage/database.ts";

/**
 * What the process tells who started it. Service managers read anything but 0 as failure
 * (options.md#exit-codes).
 */
export const EXIT = {
  /** Done as asked: a clean stop after SIGTERM or SIGINT included. */
  ok: 0,
  /** A fault of ours, or a command that could not do what it was asked for. */
  failed: 1,
  /** The node could not start as configured: bad options, bad genesis, a port or folder in use. */
  badInput: 2,
  /** The disk is full or fails, or the database is damaged (EX_IOERR). */
  disk: 74,
} as const;

/** What an error that ended the work means for whoever started it. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof FolderInUse) return EXIT.badInput;
  return error instanceof DiskError || error instanceof DamagedData ? EXIT.disk : EXIT.failed;
}
