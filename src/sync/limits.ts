/** Every bound of sync, by name. Figures without a source are ours. */

/** Headers per request (p2p.md#full-sync). */
export const RANGE_HEADERS = 200;
/** Bodies per request: downloaded bodies wait for their import in memory. */
export const BATCH_BODIES = 64;
/** Blocks that a peer must be ahead for a bulk import; fewer are imported one by one. */
export const BULK_DISTANCE = 32n;
/** Checked headers whose blocks are not imported yet: about 3 KB each. */
export const MAX_HEADERS_AHEAD = 2_048;
/** Of these, the blocks whose bodies may be requested or waiting. */
export const MAX_BLOCKS_AHEAD = 1_024;
/** Memory of downloaded bodies that wait for their import, those of open requests estimated by their gas. */
export const MAX_WAITING_BODY_BYTES = 64 * 1024 * 1024;
/** Bodies of one request, and their memory as estimated by their gas: a peer's response ends at some MiB anyway. */
export const MAX_BODIES_OF_REQUEST = 128;
export const MAX_BYTES_OF_REQUEST = 4 * 1024 * 1024;
/** Bodies and memory of the request by which an unknown peer shows that it delivers, and such requests at a time. */
export const MAX_BODIES_OF_SAMPLE = 16;
export const MAX_BYTES_OF_SAMPLE = 512 * 1024;
export const MAX_SAMPLE_REQUESTS = 4;
/** Body requests that are open at the same time; one to each peer. */
export const MAX_BODY_REQUESTS = 8;
/** A bulk import without a next block is closed after this time, so that others can move the head. */
export const STARVED_MS = 100;
/** Interval of the checks for body requests that are late. */
export const LATE_CHECK_MS = 500;
/** Interval of the progress in the log. */
export const PROGRESS_INTERVAL_MS = 5_000;

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
