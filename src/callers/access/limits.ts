/** Log-ins that wait for the thread that checks passwords. Above, the host with most of them is refused. */
export const WAITING_LOGINS = 64;
/** Wrong log-ins of one host under one name, within WRONG_LOGINS_MS of the first, after which they are refused unchecked. */
export const WRONG_LOGINS = 10;
export const WRONG_LOGINS_MS = 60_000;
/** Pairs of host and name whose wrong log-ins are counted; above, the oldest are forgotten. */
export const COUNTED_PAIRS = 10_000;
/** Limit of the heap of the thread that checks passwords. */
export const PASSWORD_HEAP_MB = 32;
