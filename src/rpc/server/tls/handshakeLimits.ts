/** Time from the start of a connection to the end of its handshake. */
export const HANDSHAKE_MS = 5_000;
/**
 * Handshakes of one server on one thread that are under way, half a hundred kilobytes each, or wait for their turn; for a
 * further one, the oldest of the remote host with most of them ends.
 */
export const HANDSHAKES = 256;
/** Of these, those of one remote host that is no proxy: more than an honest one has connections that begin at once. */
export const HANDSHAKES_PER_HOST = 128;

/** Bytes of a client's first message, and the pieces that it may come in; usual ones have 300 to 2,000 bytes in one or two. */
export const HELLO_BYTES = 16 * 1024;
export const HELLO_PIECES = 64;

/** Share of the thread's time for handshakes of all its servers, and the unused time that is saved up. The thread may have blocks to make. */
export const HANDSHAKES_TIME_SHARE = 0.2;
export const HANDSHAKES_BURST_MS = 20;
/** What a handshake is assumed to take; what the signature of the server takes longer, with an RSA key of 4096 bits 4 ms, is measured. */
export const HANDSHAKE_COST_MS = 1;

/**
 * Bytes of a client's certificates. OpenSSL checks the signatures of all that are sent, up to 100 KB, trusted or not; with
 * keys that were made for it these take half a second. What they take is taken from the handshakes to come: so much is
 * assumed when one begins, and settled by its bytes.
 */
export const CERTIFICATES_BYTES = 16 * 1024;
export const CERTIFICATES_BYTES_PER_MS = 200;
export const CERTIFICATES_COST_MS = 5;

/**
 * Bytes of a connection that may be neither of its handshake nor content: 150 requests for new keys, which take 2 ms. And how
 * many more for each byte of content: a record has 22 with usual suites, and 79 with ECDHE-…-AES256-SHA384 when its content is
 * the answer to a ping, of 6 bytes. Who sends content as well costs no more than by as many bytes of requests.
 */
export const OVERHEAD_BYTES = 4 * 1024;
export const OVERHEAD_PER_CONTENT = 16;
export const OVERHEAD_CHECK_MS = 200;

/** How long a remote host that sent too much gets no handshake, and how many such hosts are remembered. */
export const SHUT_OUT_MS = 60_000;
export const SHUT_OUT_HOSTS = 10_000;
