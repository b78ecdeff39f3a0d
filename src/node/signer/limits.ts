/** Longest wait for one answer of the signer; never more than this share of a round, of which three answers are part. */
export const ANSWER_MS = 1_000;
export const ROUND_SHARE = 1 / 8;
/** A signer whose answers take a larger share of the longest wait, as a rule, is reported as slow. */
export const SLOW_SHARE = 1 / 4;

/** Pause after a failed request: doubled from the first to the last. */
export const FIRST_PAUSE_MS = 20;
export const LAST_PAUSE_MS = 1_000;

/** Connections to the signer at a time; a round has five signatures at most, and leaving it ends its requests. */
export const CONNECTIONS_LIMIT = 6;
/** Connections that are idle are closed before the signer closes them; Web3Signer does after 30 s. */
export const IDLE_MS = 10_000;
/** Bytes of an answer: 132 for a signature, and some ten thousand public keys. */
export const SIGNATURE_ANSWER_LIMIT = 1_024;
export const KEYS_ANSWER_LIMIT = 2 * 1024 * 1024;

/** Pause between two questions to a signer that did not answer at the start. */
export const SEARCH_MS = 5_000;
/** Pause between two log lines about a failure that lasts, or about slowness. */
export const REPEAT_MS = 5 * 60_000;
/** Pause between two log lines about failures with signatures in between. */
export const FLAPPING_MS = 30_000;
