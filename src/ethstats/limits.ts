/** Bounds of what an ethstats server may have the node hold and do. */

/** Time between two reports, as in Besu 24.7. */
export const REPORT_MS = 5_000;
/** Time for a connection, its handshake included. */
export const CONNECT_MS = 10_000;
/** Time for the server to accept the node's hello. */
export const HELLO_MS = 30_000;
/** Time without any message of a server, which answers a ping with each report, until the connection counts as dead. */
export const SILENCE_MS = 60_000;
/** Pause before the first new attempt, as in Besu; it doubles with each one that fails. */
export const FIRST_RETRY_MS = 10_000;
export const LONGEST_RETRY_MS = 300_000;
/** Pause between two answers with old blocks. */
export const HISTORY_MS = 10_000;

/** Bytes of one message of the server: a list of some thousand block numbers. */
export const MESSAGE_BYTES_LIMIT = 64 * 1024;
/** Bytes and messages of the server between two reports; it needs some hundred bytes in a few. */
export const RECEIVED_BYTES_LIMIT = 256 * 1024;
export const RECEIVED_MESSAGES_LIMIT = 200;
/** Bytes that wait for a server that reads slowly. */
export const WAITING_BYTES_LIMIT = 4 * 1024 * 1024;

/** Blocks in one answer with old blocks. */
export const HISTORY_BLOCKS = 50;
/** Transactions whose hashes a report of a block has; of larger blocks the rest is left out. */
export const TRANSACTIONS_LIMIT = 10_000;
/** The same for all blocks of an answer with old blocks, of which the oldest are left out. */
export const HISTORY_TRANSACTIONS_LIMIT = 20_000;
