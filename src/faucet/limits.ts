/** Most requests that wait for their turn; each waits for the record to be on disk. */
export const WAITING_LIMIT = 100;
/** Most gifts that are remembered. At the limit, none is given until old ones may be forgotten. */
export const REMEMBERED_GIFTS = 100_000;
/** Most lines of the record; beyond it, the record is rewritten with the gifts that still count. */
export const RECORD_LINES = 2 * REMEMBERED_GIFTS;
/** Gas of a gift: enough for a wallet that is a contract, too. */
export const GIFT_GAS = 100_000n;
/** The daily limit counts gifts within this time. */
export const DAY_MS = 24 * 60 * 60 * 1000;
