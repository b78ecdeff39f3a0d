/**
 * Largest frame, far above any part of a block or any contract code; the length of a frame is checked against the file as
 * well.
 */
export const MAX_FRAME_BYTES = 256 * 1024 * 1024;
/** Bytes of records after which a frame of the state ends. */
export const STATE_FRAME_BYTES = 256 * 1024;
/** Number of headers in one frame, which are checked together. */
export const HEADERS_PER_FRAME = 256;
/** Number of blocks before the snapshot's whose hashes the BLOCKHASH instruction may read. */
export const ANCESTORS = 256n;
/** The first block that a snapshot can be of: its state gets a version between genesis and that block (stateLoader.ts). */
export const FIRST_SNAPSHOT = 2n;
/** Number of code hashes that an export remembers as written; beyond it, a code may appear twice. */
export const REMEMBERED_CODES = 100_000;
