/** Time from the start of a connection to the end of its handshake. */
export const HANDSHAKE_MS = 5_000;
/** Handshakes of one server, or of one thread of it, that are under way; a further one takes the place of the oldest. */
export const HANDSHAKES = 128;
/** Of these, those of one remote host; a further one takes the place of its oldest. */
export const HANDSHAKES_PER_HOST = 32;
/**
 * Handshakes that begin within a second, and those that may begin at once; others wait. One takes up to a millisecond of
 * the thread, which may have blocks to make.
 */
export const HANDSHAKES_PER_SECOND = 200;
export const HANDSHAKES_AT_ONCE = 20;
