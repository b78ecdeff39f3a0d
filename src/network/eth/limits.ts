const KIB = 1024;
const MIB = 1024 * KIB;

/** Every bound of the eth protocol, by name. Figures without a source are ours. */

/** Longest payload of a message that is looked at, by what it holds. */
export const MAX_STATUS_BYTES = 256;
export const MAX_HASH_LIST_BYTES = 64 * KIB;
export const MAX_ANNOUNCEMENT_BYTES = 256 * KIB;
/**
 * Answers are at most so long (p2p.md#requests-and-limits); so are transactions that come unasked, of which a
 * MiB is usual.
 */
export const MAX_CONTENT_BYTES = 10 * MIB + KIB;
/** Whatever the wire carries: a block may be as large as that. */
export const MAX_BLOCK_BYTES = 16 * MIB;
/** A hundred validators and their seals take nine KiB. */
export const MAX_HEADER_BYTES = 256 * KIB;

/** Most entries of a message. */
export const MAX_REQUESTED_HASHES = 1_024;
export const MAX_BLOCK_ANNOUNCEMENTS = 1_024;
/** Longest list of hashes that is sent or taken (p2p.md#transaction-gossip). */
export const MAX_TRANSACTION_ANNOUNCEMENTS = 4_096;
/**
 * Of transactions that come unasked so many are read, for each takes some 8 µs: as many as can be in the MiB that is the
 * most that is sent (p2p.md#transaction-gossip), but for those that somebody made tiny. Several of them are
 * never longer than twice that.
 */
export const MAX_TRANSACTIONS = 10_922;
export const MAX_TRANSACTIONS_BYTES = 2 * MIB;
/** Up to here a block's body is read for what it says; up to the next its transactions are counted before. */
export const SMALL_BLOCK_BYTES = 64 * KIB;
export const LONG_BLOCK_BYTES = 2 * MIB;
/** What any transaction uses (yellow paper, G_transaction). */
export const LEAST_GAS = 21_000;
/** What is counted for one, when as much as can be is refunded for what it cleared: before London half of it. */
export const LEAST_GAS_USED = LEAST_GAS / 2;
/** Most transactions of a body that we ask for, whatever the gas limit of the chain allows. */
export const MAX_BODY_TRANSACTIONS = 262_144;
/** So much of a long answer is decoded before others have their turn on the thread: some ms, whatever is in it. */
export const SLICE_BYTES = 64 * KIB;
export const MAX_RECEIPTS = 65_536;

/** What we serve at most for one request (p2p.md#requests-and-limits). */
export const MAX_SERVED_HEADERS = 512;
export const MAX_SERVED_BODIES = 128;
export const MAX_SERVED_RECEIPTS = 256;
export const MAX_SERVED_TRANSACTIONS = 256;
/**
 * An answer ends with the item that reaches this size. The incumbent goes up to 10 MiB; others stop at two as we do, so
 * that a peer that reads slowly costs us little.
 */
export const SERVED_BYTES = 2 * MIB;
/** Requests of one peer that wait for their turn; who asks for more at once is of no use to us. */
export const MAX_WAITING_REQUESTS = 64;

/** Between a question and giving it up (p2p.md#requests-and-limits). */
export const REQUEST_TIMEOUT_MS = 5_000;
/**
 * An answer that is on its way is waited for longer: while so much comes from the peer in each such time (0.4 Mbit/s), which
 * may also be a block that goes before it. The largest message takes 13 s at 10 Mbit/s.
 */
export const RESPONSE_PROGRESS_BYTES = 256 * KIB;
export const LONGEST_RESPONSE_MS = 60_000;
/** Questions to one peer that are unanswered (p2p.md#requests-and-limits). */
export const MAX_OUTSTANDING_REQUESTS = 5;
/** So many questions of one kind without any answer end the connection (p2p.md#requests-and-limits). */
export const MAX_TIMEOUTS = 5;
/** Questions given up whose late answers are no offence. */
export const MAX_REMEMBERED_TIMEOUTS = 64;

/**
 * Hashes that a peer is known to have. The incumbent keeps 100,000 (p2p.md#transaction-gossip); a hash
 * matters for the seconds in which it travels, and 25 peers with so many would take a quarter of a gigabyte.
 */
export const MAX_KNOWN_TRANSACTIONS = 32_768;
export const MAX_KNOWN_BLOCKS = 1_024;

/**
 * With so few peers each of them is sent our callers' transactions in full, where the incumbent sends a hash to some
 * (p2p.md#transaction-gossip): a hash costs half a second, and in it the turn of one validator or another.
 */
export const SMALL_NETWORK_PEERS = 8;
/** Unasked transactions in one message (p2p.md#transaction-gossip). */
export const TRANSACTIONS_MESSAGE_BYTES = MIB;
/** Of all peers together, while other messages are read first, and of one of them; one message each is always taken. */
export const MAX_UNREAD_GOSSIP_BYTES = 16 * MIB;
export const MAX_UNREAD_PEER_BYTES = 4 * MIB;
/** Transactions of one peer that are decoded and judged together: at first, and after batches without a useless one. */
export const FIRST_BATCH = 64;
export const LARGEST_BATCH = 512;
/** The rest of a message with so many useless transactions, and more of them than useful ones, is left unread. */
export const MAX_REJECTED_OF_MESSAGE = 128;
/**
 * A peer whose useless transactions outnumber its useful ones by so many is not listened to for a while: that is what a
 * large block makes of what is on its way. By twice as many, and it is sent away.
 */
export const IGNORED_SCORE = 1_024;
export const HIGHEST_TRANSACTION_SCORE = 2_048;
export const SCORE_LEAK_PER_SECOND = 64;
/** What a message of transactions counts that comes while nobody listens. */
export const IGNORED_MESSAGE_SCORE = 64;
/** Time of another thread that finding a sender takes, some 45 µs and the way there. */
export const RECOVERY_MS = 0.05;
/** Announced hashes of one peer that are still to be asked for (p2p.md#transaction-gossip). */
export const MAX_ANNOUNCED_TRANSACTIONS = 4_096;
/** Announced transactions are asked for so often, so many at a time (p2p.md#transaction-gossip). */
export const FETCH_INTERVAL_MS = 500;
export const MAX_FETCHED_TRANSACTIONS = 256;
/** Of one peer, not counting what has been answered: of the five questions that may be open some are left for blocks. */
export const MAX_FETCHES_OF_PEER = 3;
/** New transactions are collected so long before they go out together. */
export const ANNOUNCE_DELAY_MS = 20;
/** So many of them go out at once. */
export const MAX_COLLECTED_TRANSACTIONS = 1_024;
/** A transaction that was handed to the pool is not handed to it again for so long, whatever became of it. */
export const REOFFER_AFTER_MS = 60_000;
export const MAX_OFFERED_TRANSACTIONS = 65_536;

/**
 * Announced blocks are looked at from so far below the head to so far above it (p2p.md#block-propagation).
 */
export const OLDEST_ANNOUNCED_BLOCK = 10n;
export const NEWEST_ANNOUNCED_BLOCK = 30n;
/**
 * A peer's height is raised to so many blocks above our head at most by what it says in passing, or by one: that is
 * enough to be asked, and what is more it will show.
 */
export const MAX_CLAIMED_LEAD = 200n;
/** How long the next block may take to be committed here before it is asked of a validator that has it: half a period. */
export const IMPLIED_HEIGHT_DELAY_MS = 500;
