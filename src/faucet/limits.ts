/** Requests that wait for their turn; each waits for the record to be on disk. */
export const WAITING_LIMIT = 100;
/** Gifts that are remembered. With more, none is given until old ones may be forgotten. */
export const REMEMBERED_GIFTS = 100_000;
/** Lines of the record, which is written anew with what still counts when it has more. */
export const RECORD_LINES = 2 * REMEMBERED_GIFTS;
/** Gas of a gift: enough for a wallet that is a contract, too. */
export const GIFT_GAS = 100_000n;
/** The daily limit counts what was given within this time. */
export const DAY_MS = 24 * 60 * 60 * 1000;
