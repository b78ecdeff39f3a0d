/** Every bound of catching up, by name. Figures without a source are ours. */

/** Headers asked for at once (p2p.md#full-sync). */
export const RANGE_HEADERS = 200;
/** Bodies asked for at once: what is downloaded and not imported yet is held in memory. */
export const BATCH_BODIES = 64;
/** A chain that is so close to its best peer is in sync (p2p.md#full-sync). */
export const IN_SYNC_DISTANCE = 5n;

/** Announced blocks that wait for their parent, of one peer (p2p.md#block-propagation) and of all. */
export const MAX_WAITING_BLOCKS_OF_PEER = 40;
export const MAX_WAITING_BLOCKS = 256;
/** Memory of all of them together: each may be as large as a message. One is always taken. */
export const MAX_WAITING_BYTES = 128 * 1024 * 1024;

/** Peers that show at the same time whether they have the next block. */
export const MAX_PROBES = 32;
/**
 * How long a peer may keep us waiting for a range while others could be asked: at first, and at most. Each block that it
 * gives earns it some more, so that a range of large blocks has its time.
 */
export const FIRST_REQUEST_BUDGET_MS = 2_000;
export const LONGEST_REQUEST_BUDGET_MS = 32_000;
export const REQUEST_BUDGET_PER_BLOCK_MS = 100;

/** First time for which a peer that was no help is left alone; doubles up to the longest. */
export const FIRST_BACK_OFF_MS = 2_000;
export const LONGEST_BACK_OFF_MS = 60_000;
/** Nothing is tried for so long after the importer failed for a reason of its own. */
export const IMPORT_FAILURE_PAUSE_MS = 5_000;
