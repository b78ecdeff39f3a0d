/** Bounds of backups. */

/** Room that a backup leaves on a disk. */
export const RESERVE_BYTES = 512 * 1024 * 1024;
/** Room to open a copy for its check: the contents of the logs as tables, and what LevelDB compacts then. */
export const CHECK_BYTES = 256 * 1024 * 1024;
/** One piece of a copy: read and written before the next, and a pause after it keeps the rate. */
export const PIECE_BYTES = 1024 * 1024;
/** A list of a hundred thousand files, which is a database of 800 GB, has 12 MB. */
export const LIST_BYTES = 64 * 1024 * 1024;
/** The largest file of LevelDB is a table of 8 MB, save for a manifest; one key with a huge value makes a table larger. */
export const FILE_BYTES = 1024 * 1024 * 1024;
