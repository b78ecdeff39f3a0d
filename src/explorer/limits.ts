/** Limits of the explorer's port, where visitors are expected. Those of its connections are options. */

/** Bytes of a request. The longest is a call with a contract's parameters. */
export const BODY_BYTES = 128 * 1024;
/** Requests in one batch: a page of rows takes three requests for each. */
export const BATCH_SIZE = 100;
/** Time to answer one request. */
export const ANSWER_MS = 20_000;
/** Gas of a simulated call. */
export const CALL_GAS = 50_000_000n;
/** Bytes of unread answers of all visitors together; above it the slowest readers are cut. */
export const UNREAD_BYTES = 64 * 1024 * 1024;
/** Bytes of a trace. Other ports answer longer ones; here some visitors have room for theirs together. */
export const TRACE_BYTES = UNREAD_BYTES / 4;

/**
 * What one remote host may ask for, in units of the cost of a plain read (offer.ts): at once, and again each second. A page
 * takes up to 200 units, that of an account with many tokens up to 750, and 10 to 30 each second where there is a block a second.
 */
export const HOST_BURST = 1_500;
export const HOST_PER_SECOND = 150;
/** What all visitors together may ask for. Visitors whose proxy does not name them have this limit alone. */
export const ALL_BURST = 6_000;
export const ALL_PER_SECOND = 1_000;
/** Remote hosts whose use is remembered. */
export const REMEMBERED_HOSTS = 10_000;

/** Units that a request to the faucet takes: those of a trace. */
export const GIFT_COST = 25;
