/** Bounds of backups. */

/** Free room that a backup leaves on a disk. */
export const RESERVE_BYTES = 512 * 1024 * 1024;
/** Room to open a copy for its check: the contents of the logs as tables, and what LevelDB then compacts. */
export const CHECK_BYTES = 256 * 1024 * 1024;
/** Size of one piece of a copy, which is read and written before the next; a pause after it keeps the rate. */
export const PIECE_BYTES = 1024 * 1024;
/** Largest list: one of a hundred thousand files, a database of 800 GB, has 12 MB. */
export const LIST_BYTES = 64 * 1024 * 1024;
/** Largest file: LevelDB's tables have up to 8 MB, or more for one key with a huge value, and its manifest may be larger. */
export const FILE_BYTES = 1024 * 1024 * 1024;
