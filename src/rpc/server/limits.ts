/** What a door grants before it refuses, waits or cuts. What an operator can set is in the doors' settings instead. */

/** An idle connection is closed after this; the incumbent keeps dead ones, which use up its connection limit. */
export const KEEP_ALIVE_MS = 65_000;
/** How long a request may take to come in. */
export interface ArrivalTimes {
  /** For its headers, from the connection or its first byte on. */
  readonly headersMs: number;
  /** A body of which nothing more comes for this long is given up. */
  readonly bodyPauseMs: number;
  /** How often both are looked at. */
  readonly checkMs: number;
}

export const ARRIVAL_TIMES: ArrivalTimes = { headersMs: 5_000, bodyPauseMs: 10_000, checkMs: 1_000 };
/** A connection that has been idle for this long gives way where there is no room for another. */
export const IDLE_SPARE_MS = 5_000;
/** Time for a request to arrive whole, headers and body. */
export const ARRIVAL_LIMIT_MS = 120_000;
/** A client that reads nothing of its answer for this long, beyond the time that answering may take, is cut. */
export const STUCK_READER_MS = 30_000;
/** Characters from which on a message is large. */
export const LARGE_MESSAGE = 128 * 1024;
/** Share of the main thread's time in which large messages are read, and how much of it is kept for one that comes alone. */
export const LARGE_MESSAGES_TIME_SHARE = 0.25;
export const LARGE_MESSAGES_BURST_MS = 50;
/** Characters of large messages that may wait to be read; one machine alone fills half of them (messageReader.ts). */
export const LARGE_MESSAGES_WAITING = 64 * 1024 * 1024;
/** Bytes of large answers on their way to all connections of a door together; above it the slowest readers are cut. */
export const ALL_ANSWERS_BYTES = 512 * 1024 * 1024;
/** Requests of one HTTP connection that may be under way; only a client that pipelines has more than one. */
export const PIPELINE_LIMIT = 32;
/** Open requests and messages get this long to end when a door closes; then they are cut. */
export const CLOSING_LIMIT_MS = 2_000;

/** A WebSocket message may have this many times the largest frame (json-rpc-errors.md#websocket). */
export const FRAMES_PER_MESSAGE = 4;
/** How often each WebSocket connection is asked for a sign of life; one that gave none since the last time is cut. */
export const HEARTBEAT_MS = 30_000;
/** Messages of one WebSocket connection that may be under way; more wait, and reading from the connection pauses. */
export const MESSAGES_UNDER_WAY = 32;
/** Bytes waiting to be sent to one WebSocket connection above which nothing more is read from it. */
export const BACKLOG_PAUSE_BYTES = 4 * 1024 * 1024;
/** Bytes of notifications waiting to be sent to one WebSocket connection above which others hear of a block first. */
export const BACKLOG_BEHIND_BYTES = 4 * 1024 * 1024;
/** Bytes of notifications left unread above which the next finds the reader too slow, and the connection is cut. */
export const BACKLOG_LIMIT_BYTES = 16 * 1024 * 1024;
/** The same for bytes of which some were written in this very turn of the event loop. */
export const TURN_LIMIT_BYTES = 64 * 1024 * 1024;
/** Bytes of notifications that may wait for all WebSocket connections together; above it the slowest readers are cut. */
export const ALL_BACKLOGS_BYTES = 128 * 1024 * 1024;
/** Characters of one batch's answer over WebSocket; a longer one is not sent, and the connection is closed. */
export const BATCH_ANSWER_LIMIT = 64 * 1024 * 1024;
