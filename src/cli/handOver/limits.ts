/** A hand-over file holds at most one record of votes, whose largest part is a prepared block. */
export const MAX_HAND_OVER_BYTES = 64 * 1024 * 1024;

/** Time for one place to answer with the key of the validator. */
export const ANSWER_WITHIN_MS = 5_000;

/** Places of the old node that are called, of the file and of the command line each. */
export const MAX_PLACES = 16;

/** A node ends its work at a stop within some seconds. */
export const STOPS_WITHIN_MS = 60_000;
