/** Limits of the explorer's port, which is meant for visitors. The limits of its connections are options. */

/** Most bytes of a request. The longest is a call with a contract's parameters. */
export const BODY_BYTES = 128 * 1024;
/** Most requests in one batch: a page takes three for each of its rows. */
export const BATCH_SIZE = 100;
/** Time limit of one request. */
export const ANSWER_MS = 20_000;
/** Most gas of a simulated call. */
export const CALL_GAS = 50_000_000n;
/** Most bytes of unread answers of all visitors together; above it the slowest readers are disconnected. */
export const UNREAD_BYTES = 64 * 1024 * 1024;
/** Most bytes of a trace. Other ports return longer ones; here there must be room for several visitors' traces. */
export const TRACE_BYTES = UNREAD_BYTES / 4;

/**
 * Budget of one remote host, in units of the cost of a plain read (offer.ts): at once, and each second. A page takes up to
 * 200 units, that of an account with many tokens up to 750, and 10 to 30 each second with a block a second.
 */
export const HOST_BURST = 1_500;
export const HOST_PER_SECOND = 150;
/** Budget of all visitors together. Visitors whose proxy does not name them have only this limit. */
export const ALL_BURST = 6_000;
export const ALL_PER_SECOND = 1_000;
/** Number of remote hosts whose use is remembered. */
export const REMEMBERED_HOSTS = 10_000;

/** Path of the part of Etherscan's interface by which tools verify contracts. */
export const VERIFY_PATH = "/api";

/** Units that a request to the faucet takes, as many as a trace. */
export const GIFT_COST = 25;
