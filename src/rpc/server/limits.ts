/** Fixed limits of the RPC servers. Limits that an operator can set are in the servers' settings instead. */

/** Time after which an idle connection is closed; Besu keeps dead ones, which use up its connection limit. */
export const KEEP_ALIVE_MS = 65_000;
/** How long a request may take to arrive. */
export interface ArrivalTimes {
  /** Time for the headers to arrive, from the start of the connection or the request's first byte. */
  readonly headersMs: number;
  /** The connection ends when nothing more of a body comes for this long. */
  readonly bodyPauseMs: number;
  /** How often both are checked. */
  readonly checkMs: number;
  /** Time from the start of a TLS connection to the end of its handshake. */
  readonly handshakeMs: number;
}

export const ARRIVAL_TIMES: ArrivalTimes = {
  headersMs: 5_000,
  bodyPauseMs: 10_000,
  checkMs: 1_000,
  handshakeMs: 5_000,
};
/** A connection that has been idle for this long may be replaced by a new one at the connection limit. */
export const IDLE_SPARE_MS = 5_000;
/** Time for a whole request to arrive, headers and body. */
export const ARRIVAL_LIMIT_MS = 120_000;
/** A client is cut when it reads nothing of its answer for this long, beyond the time that answering may take. */
export const STUCK_READER_MS = 30_000;
/** Characters from which a message counts as large. */
export const LARGE_MESSAGE = 128 * 1024;
/** Share of a thread's time for reading large messages, and the unused time that is saved up for a single one. */
export const LARGE_MESSAGES_TIME_SHARE = 0.25;
export const LARGE_MESSAGES_BURST_MS = 50;
/** Characters of large messages that may wait to be read; one remote host alone can fill half of it (messageReader.ts). */
export const LARGE_MESSAGES_WAITING = 64 * 1024 * 1024;
/** Bytes that large in-flight answers of all connections of a server keep in memory; above it the slowest readers are cut. */
export const ALL_ANSWERS_BYTES = 384 * 1024 * 1024;
/**
 * Bytes that large in-flight answers keep in memory on one thread for callers, whose heap is limited
 * (callers/threads/loadingThreads.ts). Over HTTP, above it are cut those of which nothing was read for SLOW_READER_MS: a prompt reader
 * gets an answer that alone is larger.
 */
export const THREAD_HTTP_ANSWERS_BYTES = 128 * 1024 * 1024;
export const THREAD_MESSAGE_ANSWERS_BYTES = 192 * 1024 * 1024;
export const SLOW_READER_MS = 3_000;
/** Bytes of one answer over WebSocket or IPC, as many as of a trace; a longer one is not sent, and the connection is closed. */
export const ANSWER_LIMIT = 192 * 1024 * 1024;
/** In-flight requests of one HTTP connection; only a client that pipelines has more than one. */
export const PIPELINE_LIMIT = 32;
/** Time that open requests and messages have to finish when a server closes; then they are cut. */
export const CLOSING_LIMIT_MS = 2_000;

/** Largest WebSocket message, as a multiple of the largest frame (json-rpc-errors.md#websocket). */
export const FRAMES_PER_MESSAGE = 4;
/** How often each WebSocket connection is pinged, which keeps load balancers from dropping it; one that sent nothing since the last ping is cut. */
export const HEARTBEAT_MS = 30_000;
/** How often it is checked whether the tokens of connections with subscriptions still count. */
export const TOKEN_CHECK_MS = 1_000;
/** In-flight messages of one connection over WebSocket or IPC; more wait, and reading from the connection pauses. */
export const IN_FLIGHT_MESSAGES = 32;
/** Bytes waiting to be sent to one such connection above which nothing more is read from it. */
export const BACKLOG_PAUSE_BYTES = 4 * 1024 * 1024;
/** Bytes of notifications waiting to be sent to one such connection above which others are notified of a block first. */
export const BACKLOG_BEHIND_BYTES = 4 * 1024 * 1024;
/** Bytes of unread notifications above which the next notification cuts the connection as too slow. */
export const BACKLOG_LIMIT_BYTES = 16 * 1024 * 1024;
/** Bytes of unread notifications above which the connection is cut even when some were written in the current event-loop cycle. */
export const CYCLE_LIMIT_BYTES = 64 * 1024 * 1024;
/** Bytes of waiting notifications of all connections over WebSocket and IPC together; above it the slowest readers are cut. */
export const ALL_BACKLOGS_BYTES = 128 * 1024 * 1024;
/** Characters of a batch's answer over WebSocket or IPC; a longer one is not sent, and the connection is closed. */
export const BATCH_ANSWER_LIMIT = 64 * 1024 * 1024;

/** Connections of JSON-RPC over a Unix socket, and the time after which their long queries stop: as many and as long as over WebSocket by default. */
export const IPC_CONNECTIONS = 80;
export const IPC_TIMEOUT_MS = 300_000;
/** Bytes of one message over a Unix socket: as many as a body over HTTP has by default. */
export const IPC_MESSAGE_BYTES = 5 * 1024 * 1024;
