const KIB = 1024;
const MIB = 1024 * KIB;

/** Every bound of the peer-to-peer network, by name. Figures without a source are ours. */

/** Longest auth or ack with its two size bytes: real ones have 319 to 583, and from 1024 on they look like the old format. */
export const MAX_HANDSHAKE_BYTES = 1025;
/** Largest frame before Hello was exchanged, when nothing is known of the peer. */
export const MAX_HELLO_BYTES = 8 * KIB;
/** A message, compressed or not, is shorter than 0xFFFFFF (p2p.md#frames). */
export const MAX_PAYLOAD_BYTES = 0xff_ff_fe;
/** Longest client name that is kept of a Hello. */
export const MAX_CLIENT_ID_LENGTH = 256;
/** Most capabilities that a Hello may list. */
export const MAX_CAPABILITIES = 64;

/** TCP connection, handshake and Hello together (p2p.md#rlpx-handshake). */
export const SETUP_TIMEOUT_MS = 10_000;
/** Silence after which a Ping is sent, and again after which its Pong is missed (p2p.md#base-protocol). */
export const KEEP_ALIVE_MS = 15_000;
/** Between writing a Disconnect and closing the socket (p2p.md#base-protocol). */
export const CLOSE_DELAY_MS = 2_000;

/**
 * Share of the thread's time that reading what strangers send may take, all of them together, and how much of it may be
 * taken at once. Who is named by the operator or a validator is no stranger.
 */
export const UNTRUSTED_TIME_SHARE = 0.25;
export const UNTRUSTED_BURST_MS = 50;

/**
 * Messages are encrypted, and their frames written, in pieces of this size: so that it shows whether a peer reads, and no
 * step takes more than a few ms.
 */
export const PIECE_BYTES = 64 * KIB;
/** Encrypted bytes that wait in a socket; the rest waits as messages, which connections share. */
export const MAX_WRITTEN_BYTES = 2 * PIECE_BYTES;
/** Bytes encrypted for one connection before others have their turn on the thread: some 2 ms. */
export const PUMP_BYTES = 4 * PIECE_BYTES;
/**
 * A peer is too slow when it takes less than a piece in so long while something waits for it, or a message of its own
 * grows by less than a piece. Slower than 17 kbit/s nothing useful comes through; how much waits says nothing.
 */
export const SLOW_PEER_MS = 30_000;
/** Consensus messages that wait on one connection: three of the largest. What is older gives way to what is newer. */
export const MAX_QUEUED_CONSENSUS_BYTES = 48 * MIB;
/** Whatever else waits on one connection: one of the largest messages. What comes on top is not sent. */
export const MAX_QUEUED_ORDINARY_BYTES = 16 * MIB + KIB;
/** Messages that wait on all connections together, each counted once: eight of the largest. */
export const MAX_QUEUED_BYTES = 128 * MIB;
/** What came of strangers' messages that are not complete: four of the largest. */
export const MAX_UNTRUSTED_UNREAD_BYTES = 64 * MIB;
/** Consensus messages above this size are sent over one of two crossing connections. */
export const LARGE_MESSAGE_BYTES = PIECE_BYTES;

/** Inbound connections that have not exchanged Hello yet. */
export const MAX_PENDING_CONNECTIONS = 64;
/** Inbound connections taken per second, and at once after quiet: each may ask for a handshake, some ms of work. */
export const CONNECTIONS_PER_SECOND = 50;
export const CONNECTION_BURST = 100;
/** Sockets that are open for whatever reason, beyond the number of peers. */
export const MAX_SPARE_SOCKETS = 128;
/**
 * The longer-lived of two crossing connections waits so long before it closes the other
 * (p2p.md#connection-policy: 21 to 26 s seen).
 */
export const CROSS_CONNECTION_LINGER_MS = 5_000;
/** Longest wait for what a protocol wants to hear first, such as eth's Status (p2p.md#connection-policy). */
export const GREETING_TIMEOUT_MS = 20_000;

/** Node ids that are refused until the node restarts (p2p.md#connection-policy). */
export const DENYLIST_LIMIT = 500;
/** Partings that are remembered. */
export const MAX_REMEMBERED_DISCONNECTS = 500;

/** First wait before a maintained peer is called again; doubles up to the longest. */
export const FIRST_REDIAL_MS = 1_000;
export const LONGEST_REDIAL_MS = 30_000;
/** A connection that lasted so long lets the waits begin anew. */
export const STEADY_CONNECTION_MS = 30_000;
/** Calls that are under way at the same time. */
export const MAX_CONCURRENT_DIALS = 16;

/** Reputation of a new peer, and the highest (p2p.md#connection-policy). */
export const FIRST_REPUTATION = 100;
export const HIGHEST_REPUTATION = 150;
/** So many useless answers within the window end the connection (p2p.md#base-protocol). */
export const MAX_USELESS_RESPONSES = 5;
export const USELESS_RESPONSE_WINDOW_MS = 60_000;
/** A peer that was sent away as useless is not let in again for so long. */
export const USELESS_PEER_BAN_MS = 60_000;

/** Consensus messages of one peer that wait to be judged. */
export const IBF_QUEUE_MESSAGES = 1_024;
/** Their bytes; one message is always taken. */
export const IBF_QUEUE_BYTES = 16 * MIB;
/** Consensus messages handed on before others have their turn on the thread. */
export const IBF_BURST = 32;
