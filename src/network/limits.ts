const KIB = 1024;
const MIB = 1024 * KIB;

/** Every bound of the peer-to-peer network, by name. Figures without a source are ours. */

/**
 * Longest auth or ack with its two size bytes: real ones have 319 to 583; from 1024 on they look like the pre-EIP-8
 * format.
 */
export const MAX_HANDSHAKE_BYTES = 1025;
/** Largest frame before the peer's Hello is accepted. */
export const MAX_HELLO_BYTES = 8 * KIB;
/** A message, compressed or not, is shorter than 0xFFFFFF (p2p.md#frames). */
export const MAX_PAYLOAD_BYTES = 0xff_ff_fe;
/** Longest part of a client name that is kept. */
export const MAX_CLIENT_ID_LENGTH = 256;
/** Most capabilities that a Hello may list. */
export const MAX_CAPABILITIES = 64;

/** TCP connection, handshake and Hello together (p2p.md#rlpx-handshake). */
export const SETUP_TIMEOUT_MS = 10_000;
/**
 * Silence after which a Ping is sent, and further silence after which the peer is disconnected (p2p.md#base-protocol).
 */
export const KEEP_ALIVE_MS = 15_000;
/**
 * Time in which the old connection of a peer that connects again must answer a Ping, or counts as dead
 * (p2p.md#connection-policy).
 */
export const OLD_CONNECTION_ANSWER_MS = 5_000;
/** Delay between writing a Disconnect and closing the socket (p2p.md#base-protocol). */
export const CLOSE_DELAY_MS = 2_000;

/**
 * Share of the main thread's time for reading input of all untrusted peers together, and the largest burst. Maintained peers
 * and validators are trusted.
 */
export const UNTRUSTED_TIME_SHARE = 0.25;
export const UNTRUSTED_BURST_MS = 50;

/**
 * Messages are encrypted, and their frames written, in pieces of this size, so that progress is visible and no step
 * takes more than a few ms. A longer message is large: as a consensus message it is sent over one of two crossing
 * connections, and after all small ones.
 */
export const PIECE_BYTES = 64 * KIB;
/** Encrypted bytes queued in a socket; the rest waits as messages, which connections share. */
export const MAX_WRITTEN_BYTES = 2 * PIECE_BYTES;
/** Bytes encrypted for one connection in one event-loop slice: some 2 ms. */
export const PUMP_BYTES = 4 * PIECE_BYTES;
/**
 * Time in which a peer must read at least one piece while something is queued for it, and its own message must grow by at
 * least one piece; otherwise it is too slow. Below 17 kbit/s nothing useful gets through; the amount queued does not matter.
 */
export const SLOW_PEER_MS = 30_000;
/** Queued consensus messages of one connection: three of the largest. Newer ones displace older ones. */
export const MAX_QUEUED_CONSENSUS_BYTES = 48 * MIB;
/** Other queued messages of one connection: one of the largest. Further ones are not sent. */
export const MAX_QUEUED_ORDINARY_BYTES = 16 * MIB + KIB;
/** Queued messages of all connections together, each counted once: eight of the largest. */
export const MAX_QUEUED_BYTES = 128 * MIB;
/** Incomplete messages of all untrusted peers: four of the largest. */
export const MAX_UNTRUSTED_UNREAD_BYTES = 64 * MIB;

/** Most inbound connections that have not exchanged Hello yet. */
export const MAX_PENDING_CONNECTIONS = 64;
/**
 * Most inbound connections accepted per second, and at once after a quiet period: each may cost a handshake, some ms of
 * work.
 */
export const CONNECTIONS_PER_SECOND = 50;
export const CONNECTION_BURST = 100;
/** Most open sockets beyond the number of peers. */
export const MAX_SPARE_SOCKETS = 128;
/** Delay before the losing crossing connection is closed (p2p.md#connection-policy: 21 to 26 s seen). */
export const CROSS_CONNECTION_LINGER_MS = 5_000;
/** Longest wait for a protocol's handshake, such as eth's Status (p2p.md#connection-policy). */
export const GREETING_TIMEOUT_MS = 20_000;

/** Most node ids that are banned until the restart (p2p.md#connection-policy). */
export const DENYLIST_LIMIT = 500;
/** Most remembered disconnects. */
export const MAX_REMEMBERED_DISCONNECTS = 500;

/** Most peers beyond the limit, which displace others if they complete their handshakes. */
export const MAX_CHALLENGERS = 8;

/** First delay before a maintained peer is redialed; doubles up to the longest. */
export const FIRST_REDIAL_MS = 1_000;
export const LONGEST_REDIAL_MS = 30_000;
/** Duration of a connection that resets the delay. */
export const STEADY_CONNECTION_MS = 30_000;
/** Delay between dials of a node that discovery found (p2p.md#connection-policy); doubles up to the longest. */
export const SHORTEST_DISCOVERED_REDIAL_MS = 30_000;
export const LONGEST_DISCOVERED_REDIAL_MS = 10 * 60_000;
/** Most consecutive failed dials of such a node. */
export const MAX_DISCOVERED_FAILURES = 8;
/** Most discovered nodes remembered for dialing. */
export const MAX_DISCOVERED_PEERS = 1024;
/** Most discovered nodes in one public subnet that are dialed or connected, so that one operator cannot eclipse a node. */
export const MAX_DISCOVERED_IN_SUBNET = 5;
/** Duration of a connection after which its node is preferred later, also in the next run. */
export const PROVEN_CONNECTION_MS = 10 * 60_000;
/** Share of the peer slots kept for such nodes while they are away. */
export const PROVEN_PLACES_SHARE = 0.2;
/** Most dials at the same time. */
export const MAX_CONCURRENT_DIALS = 16;

/** Reputation of a new peer, and the highest (p2p.md#connection-policy). */
export const FIRST_REPUTATION = 100;
export const HIGHEST_REPUTATION = 150;
/** Useless responses within the window that end the connection (p2p.md#base-protocol). */
export const MAX_USELESS_RESPONSES = 5;
export const USELESS_RESPONSE_WINDOW_MS = 60_000;
/** Ban after a disconnect as a useless peer. */
export const USELESS_PEER_BAN_MS = 60_000;

/** Most consensus messages of one peer that wait for the message router. */
export const IBF_QUEUE_MESSAGES = 1_024;
/** Most bytes of such messages; one message is always accepted. */
export const IBF_QUEUE_BYTES = 16 * MIB;
/** Most consensus messages delivered in one event-loop slice. */
export const IBF_BURST = 32;
