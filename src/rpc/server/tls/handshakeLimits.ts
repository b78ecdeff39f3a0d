/**
 * Handshakes of one server on one thread that are under way, half a hundred kilobytes each, or wait for their turn; for a
 * further one, the oldest of the remote host with most of them ends.
 */
export const HANDSHAKES = 256;
/** Handshakes of one remote host that is no proxy, counted among all: more than an honest one has connections that begin at once. */
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
 * What one address may have of a thread's time for bytes that are no content, such as requests for new keys, and the unused time
 * that is saved up. Who takes more gets no handshake until this share is kept.
 */
export const OVERHEAD_TIME_SHARE = 0.01;
export const OVERHEAD_BURST_MS = 40;
/**
 * The same for all addresses together. While they take more, a new one has no more than this at once, and of a connection no more
 * than SHORT_RECORD_BYTES may be a record on its way.
 */
export const OVERHEAD_TOTAL_SHARE = 0.05;
export const OVERHEAD_TOTAL_BURST_MS = 100;
export const OVERHEAD_SHORT_BURST_MS = 2;
export const SHORT_RECORD_BYTES = 4 * 1024;
/** Requests for new keys are the costliest of them: 27 bytes take 14 µs. */
export const OVERHEAD_BYTES_PER_MS = 1_900;
/**
 * Bytes without charge for each byte of content. A record has 22 more with usual suites, and up to 85 with ECDHE-…-AES256-SHA384,
 * fewer than twice the content of any call. Who sends requests for new keys as well takes no longer than with as many bytes of
 * calls alone.
 */
export const OVERHEAD_PER_CONTENT = 2;
/** The largest record (RFC 8446, 5.2; RFC 5246, 6.2.3): so much may be of one that is still coming. */
export const RECORD_BYTES = 5 + 2 ** 14 + 2048;
export const OVERHEAD_CHECK_MS = 100;

/** How long at least a remote host that sent too much gets no handshake, and how many such hosts are remembered. */
export const SHUT_OUT_MS = 60_000;
export const SHUT_OUT_HOSTS = 10_000;
