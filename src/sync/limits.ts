/** Every bound of sync, by name. Figures without a source are ours. */

/** Headers per request (p2p.md#full-sync). */
export const RANGE_HEADERS = 200;
/** Bodies per request: downloaded bodies wait for their import in memory. */
export const BATCH_BODIES = 64;
/** Largest distance to the best peer at which the node counts as in sync (p2p.md#full-sync). */
export const IN_SYNC_DISTANCE = 5n;

/** Announced blocks waiting for their parent, of one peer (p2p.md#block-propagation) and of all. */
export const MAX_WAITING_BLOCKS_OF_PEER = 40;
export const MAX_WAITING_BLOCKS = 256;
/** Memory of all waiting blocks: each may be as large as a message. One is always accepted. */
export const MAX_WAITING_BYTES = 128 * 1024 * 1024;

/** Most simultaneous probes. */
export const MAX_PROBES = 32;
/**
 * Time that a peer may take for a range while others could be asked: at first, and at most. Each delivered block
 * extends it, so that a range of large blocks has its time.
 */
export const FIRST_REQUEST_BUDGET_MS = 2_000;
export const LONGEST_REQUEST_BUDGET_MS = 32_000;
export const REQUEST_BUDGET_PER_BLOCK_MS = 100;

/** First back-off after a failed download from a peer; doubles up to the longest. */
export const FIRST_BACK_OFF_MS = 2_000;
export const LONGEST_BACK_OFF_MS = 60_000;
/** Pause after the importer failed for a local reason. */
export const IMPORT_FAILURE_PAUSE_MS = 5_000;
