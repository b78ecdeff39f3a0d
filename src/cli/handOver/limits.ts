/** Largest hand-over file: it has at most one record of votes, whose largest part is a prepared block. */
export const MAX_HAND_OVER_BYTES = 64 * 1024 * 1024;

/** Time for one place to answer with the key of the validator. */
export const ANSWER_WITHIN_MS = 5_000;

/** Most places of the old node to contact, from the file and from the command line each. */
export const MAX_PLACES = 16;

/** Time for a node to stop, which usually takes some seconds. */
export const STOPS_WITHIN_MS = 60_000;
