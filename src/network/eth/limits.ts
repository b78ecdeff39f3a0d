import { TRANSACTION_GAS } from "../../types/transactionCount.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** Every bound of the eth protocol, by name. Figures without a source are ours. */

/** Longest accepted payload of a message, by its content. */
export const MAX_STATUS_BYTES = 256;
export const MAX_BLOCK_ANNOUNCEMENTS_BYTES = 64 * KIB;
/** Announcements of transactions, and requests by hashes. */
export const MAX_HASH_LIST_BYTES = 256 * KIB;
/**
 * Longest response (p2p.md#requests-and-limits), and longest message of unsolicited transactions, of which 1 MiB is
 * usual.
 */
export const MAX_CONTENT_BYTES = 10 * MIB + KIB;
/** The largest message on the wire: a block may be that large. */
export const MAX_BLOCK_BYTES = 16 * MIB;
/** A header with a hundred validators and their seals takes 9 KiB. */
export const MAX_HEADER_BYTES = 256 * KIB;

/**
 * Most entries of a message. A peer that got the whole pool announced may request as many transactions as were announced at
 * once; no more hashes of a request are kept than are served.
 */
export const MAX_REQUESTED_HASHES = 4_096;
export const MAX_BLOCK_ANNOUNCEMENTS = 1_024;
/** Longest list of transaction hashes sent or accepted (p2p.md#transaction-gossip). */
export const MAX_TRANSACTION_ANNOUNCEMENTS = 4_096;
/**
 * Most unsolicited transactions read from one message, at some 8 µs each: as many usual ones as fit into 1 MiB, the most
 * that a client sends (p2p.md#transaction-gossip). A message of several transactions is never longer than twice that.
 */
export const MAX_TRANSACTIONS = 10_922;
export const MAX_TRANSACTIONS_BYTES = 2 * MIB;
/** A block's body up to the first size is decoded at once; up to the second its transactions are counted first. */
export const SMALL_BLOCK_BYTES = 64 * KIB;
export const LONG_BLOCK_BYTES = 2 * MIB;
/** Least gas used by a transaction after the largest refund: before London half of its gas. */
export const LEAST_GAS_USED = TRANSACTION_GAS / 2n;
/** Bytes of a long response decoded in one event-loop slice: some ms, whatever the content. */
export const SLICE_BYTES = 64 * KIB;
export const MAX_RECEIPTS = 65_536;

/** Most items served for one request (p2p.md#requests-and-limits). */
export const MAX_SERVED_HEADERS = 512;
export const MAX_SERVED_BODIES = 128;
export const MAX_SERVED_RECEIPTS = 256;
export const MAX_SERVED_NODES = 384;
export const MAX_SERVED_TRANSACTIONS = 256;
/**
 * A response ends with the item that reaches this size. Besu goes up to 10 MiB; others stop at 2 MiB as well, so that a
 * slow reader costs little.
 */
export const SERVED_BYTES = 2 * MIB;
/**
 * Most bytes of the items of a response: as many as Besu accepts in a message, and this node in a response
 * (MAX_CONTENT_BYTES).
 */
export const MOST_SERVED_BYTES = 10 * MIB;
/** Number of steps of a request served in one event-loop slice: some ms. */
export const STEPS_PER_SLICE = 8;
/** Number of items of a response collected in one step: headers and transactions. */
export const STEP_ITEMS = 64;
/** Most queued requests of one peer; a peer that exceeds it is disconnected as useless. */
export const MAX_WAITING_REQUESTS = 64;

/** Timeout of a request (p2p.md#requests-and-limits). */
export const REQUEST_TIMEOUT_MS = 5_000;
/**
 * Extends the timeout while this much arrives from the peer in each such period (0.4 Mbit/s), which may also be a block
 * in front of the response. The largest message takes 13 s at 10 Mbit/s.
 */
export const RESPONSE_PROGRESS_BYTES = 256 * KIB;
export const LONGEST_RESPONSE_MS = 60_000;
/** Most open requests to one peer (p2p.md#requests-and-limits). */
export const MAX_OUTSTANDING_REQUESTS = 5;
/** Timeouts in a row of one kind of request that end the connection (p2p.md#requests-and-limits). */
export const MAX_TIMEOUTS = 5;
/** Number of timed-out requests whose late responses are no offence. */
export const MAX_REMEMBERED_TIMEOUTS = 64;

/**
 * Most hashes that a peer is known to have. Besu keeps 100,000 (p2p.md#transaction-gossip); a hash matters only for the
 * seconds in which it travels, and 25 peers with so many would take a quarter of a gigabyte.
 */
export const MAX_KNOWN_TRANSACTIONS = 32_768;
export const MAX_KNOWN_BLOCKS = 1_024;

/**
 * Up to this number of peers, each is sent local transactions in full, where Besu sends only the hash to some
 * (p2p.md#transaction-gossip): fetching by hash costs half a second, in which a validator may miss the transaction for
 * its block.
 */
export const SMALL_NETWORK_PEERS = 8;
/** Most bytes of unsolicited transactions in one message (p2p.md#transaction-gossip). */
export const TRANSACTIONS_MESSAGE_BYTES = MIB;
/** Unread gossip of all peers together, and of one peer; one message of each peer is always accepted. */
export const MAX_UNREAD_GOSSIP_BYTES = 16 * MIB;
export const MAX_UNREAD_PEER_BYTES = 4 * MIB;
/**
 * Transactions of one peer decoded and validated together: at first, and the most after batches without a rejected one.
 */
export const FIRST_BATCH = 64;
export const LARGEST_BATCH = 512;
/** Abandons a message with this many rejected transactions when they outnumber the accepted ones. */
export const MAX_REJECTED_OF_MESSAGE = 128;
/**
 * A peer whose rejected transactions outnumber its accepted ones by the first score is ignored for a while: a large
 * block can invalidate that many in flight. At the highest score it is disconnected.
 */
export const IGNORED_SCORE = 1_024;
export const HIGHEST_TRANSACTION_SCORE = 2_048;
export const SCORE_LEAK_PER_SECOND = 64;
/**
 * Weight of an announced transaction that never came, as a share of a rejected one: it may have been mined meanwhile, with a
 * full block of others.
 */
export const UNDELIVERED_WEIGHT = 1 / 16;
/** Largest difference between the announced and the delivered size, in bytes, as in go-ethereum. */
export const MAX_SIZE_DIFFERENCE = 8;
/** Score of a transactions message from an ignored peer. */
export const IGNORED_MESSAGE_SCORE = 64;
/** Time of another thread for recovering one sender: some 45 µs and the hand-over. */
export const RECOVERY_MS = 0.05;
/** Most announced hashes of one peer not yet requested (p2p.md#transaction-gossip). */
export const MAX_ANNOUNCED_TRANSACTIONS = 4_096;
/** Interval of requests for announced transactions, and most hashes per request (p2p.md#transaction-gossip). */
export const FETCH_INTERVAL_MS = 500;
export const MAX_FETCHED_TRANSACTIONS = 256;
/** Most open transaction requests to one peer: some of its five request slots stay free for blocks. */
export const MAX_FETCHES_OF_PEER = 3;
/** New transactions are collected this long before they are sent together. */
export const ANNOUNCE_DELAY_MS = 20;
/** Number of collected transactions that are sent without waiting longer. */
export const MAX_COLLECTED_TRANSACTIONS = 1_024;
/** Time for which a transaction that was offered to the pool is not offered again, whatever the result. */
export const REOFFER_AFTER_MS = 60_000;
export const MAX_OFFERED_TRANSACTIONS = 65_536;

/** Range around the head in which announced blocks are accepted: below and above (p2p.md#block-propagation). */
export const OLDEST_ANNOUNCED_BLOCK = 10n;
export const NEWEST_ANNOUNCED_BLOCK = 30n;
/**
 * An unproven claim raises a peer's height to at most this many blocks above the head, or by one: enough for the peer
 * to be asked, and then it has to prove more.
 */
export const MAX_CLAIMED_LEAD = 200n;
/** Time for the next block to be committed here before it is requested from a validator that has it: half a period. */
export const IMPLIED_HEIGHT_DELAY_MS = 500;
