/** Every bound of sync, by name. Figures without a source are ours. */

/** Headers per request (p2p.md#full-sync). */
export const RANGE_HEADERS = 200;
/** Number of blocks below its head whose bodies every node has (`--block-history`). */
export const LEAST_BLOCK_HISTORY = 1_024n;
/** Bodies per request: downloaded bodies wait for their import in memory. */
export const BATCH_BODIES = 64;
/** Blocks that a peer must be ahead for a bulk import; fewer are imported one by one. */
export const BULK_DISTANCE = 32n;
/** Bounds of a bulk download. */
export interface BulkLimits {
  /** Checked headers whose blocks are not imported yet, and their memory; one more range may be on its way. */
  readonly headers: number;
  readonly headerBytes: number;
  /** Blocks whose bodies may be requested or waiting, counted among those of `headers`. */
  readonly blocks: number;
  /** Memory of downloaded bodies that wait for their import; those of open requests are estimated from their gas. */
  readonly bodyBytes: number;
  /** Bodies of one request, and their memory as estimated from their gas: at first, at least and at most. */
  readonly bodiesOfRequest: number;
  readonly firstBytesOfRequest: number;
  readonly leastBytesOfRequest: number;
  readonly mostBytesOfRequest: number;
  /**
   * Bodies and memory of the request with which an unknown peer proves that it delivers, and number of such requests at a
   * time.
   */
  readonly bodiesOfSample: number;
  readonly bytesOfSample: number;
  readonly sampleRequests: number;
  /** Body requests that are open at the same time, of one peer and of all. */
  readonly requestsOfPeer: number;
  readonly requests: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const BULK_LIMITS: BulkLimits = {
  headers: 2_048,
  headerBytes: 16 * MIB,
  blocks: 1_024,
  bodyBytes: 64 * MIB,
  /** This is the most that a peer serves (p2p.md#requests-and-limits), and some MiB. */
  bodiesOfRequest: 128,
  firstBytesOfRequest: MIB,
  leastBytesOfRequest: 16 * KIB,
  mostBytesOfRequest: 4 * MIB,
  bodiesOfSample: 16,
  bytesOfSample: 512 * KIB,
  sampleRequests: 4,
  /** The second is on its way while the first is answered. */
  requestsOfPeer: 2,
  requests: 12,
};
/** Response times beyond the shortest one: a faster peer is asked for more bodies, a slower one for fewer. */
export const LARGER_REQUEST_MS = 500;
export const SMALLER_REQUEST_MS = 1_500;
/** After this time, bodies that the import waits for are requested from a second peer too. */
export const OVERDUE_MS = 500;
/** A bulk import without a next block is closed after this time, so that others can move the head. */
export const STARVED_MS = 100;
/** Interval of the checks for body requests that are late. */
export const LATE_CHECK_MS = 500;
/** Interval of the progress in the log. */
export const PROGRESS_INTERVAL_MS = 10_000;

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
 * Time that a peer may take for a range while others could be asked: at first, and at most. Each delivered block extends it,
 * so that a range of large blocks gets enough.
 */
export const FIRST_REQUEST_BUDGET_MS = 2_000;
export const LONGEST_REQUEST_BUDGET_MS = 32_000;
export const REQUEST_BUDGET_PER_BLOCK_MS = 100;

/** First back-off after a failed download from a peer; doubles up to the longest. */
export const FIRST_BACK_OFF_MS = 2_000;
export const LONGEST_BACK_OFF_MS = 60_000;
/** Pause after the importer failed for a local reason. */
export const IMPORT_FAILURE_PAUSE_MS = 5_000;
