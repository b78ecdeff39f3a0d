import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import type { Logger } from "../../observability/logger.ts";
import type { Clock } from "../../primitives/clock.ts";
import { type JsonPiece, roughLengthOf } from "../../primitives/jsonPieces.ts";
import { type Caller, type Dispatcher, errorReply, type Reply } from "../dispatcher.ts";
import { ERRORS } from "../errors/errors.ts";
import type { Connection } from "../method.ts";
import { isObject } from "../parameters/parameters.ts";
import {
  BACKLOG_BEHIND_BYTES,
  BACKLOG_LIMIT_BYTES,
  BACKLOG_PAUSE_BYTES,
  BATCH_ANSWER_LIMIT,
  IN_FLIGHT_MESSAGES,
  SLICE_LIMIT_BYTES,
} from "./limits.ts";
import type { MessageReader } from "./messageReader.ts";
import { TOO_MANY_PARTS } from "./parseMessage.ts";
import { SHARED_BYTES, smallFrame, writeFrame } from "./wholeFrame.ts";

/**
 * One WebSocket connection: messages in, answers and notifications out (json-rpc-errors.md#websocket).
 *
 * What is sent waits in memory until the client has read it. While a client reads its answers too slowly, the node reads
 * no more requests from it. A client that reads its notifications too slowly is cut, because notifications cannot be held
 * back. Unread answers, however large, do not count as slow reading, but have a limit of their own (websocket.ts).
 * Answers are sent when they are ready, in any order.
 */
export interface ServedConnection extends Connection {
  /** Bytes of notifications that wait to be sent; 0 after a cut. */
  readonly backlogBytes: number;
  /** Size of the answers that wait to be sent; 0 after a cut. */
  readonly unreadAnswerBytes: number;
  /** Pings the client, and cuts the connection when nothing was received since the last ping. */
  heartbeat(): void;
}

export interface ConnectionParts {
  readonly dispatcher: Dispatcher;
  readonly reader: MessageReader;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  /** Long queries stop this long after the request; the caller then gets -32603. */
  readonly timeoutMs: number;
  /** Remote host of the client (remoteHost.ts). */
  readonly remoteHost: string;
  /** Whether the handshake came from a foreign page (foreignPages.ts). */
  readonly isForeignPage: boolean;
  /** Called before each notification with the bytes of notifications that wait to be sent on this connection. */
  readonly onBacklog?: (bytes: number) => void;
  /** Called with the size of each answer when it is written and, as a negative number, when it is sent or dropped. */
  readonly onAnswer?: (bytes: number) => void;
}

/** `stream` is the connection under the socket. */
export function serveConnection(socket: WebSocket, stream: Duplex, parts: ConnectionParts): ServedConnection {
  const { dispatcher, reader, clock, logger, timeoutMs, remoteHost, isForeignPage } = parts;
  /** Messages that were received but not started; the socket is paused while there are any. */
  const waiting: string[] = [];
  const sender = { remoteHost, isAbandoned: () => socket.readyState !== socket.OPEN };
  let inFlight = 0;
  let isPaused = false;
  let isCorked = false;
  let isAlive = true;
  let isCut = false;
  /** Bytes of notifications that waited before the first write of the current event-loop slice. */
  let backlogBefore = 0;
  /** In the stream's units: characters of strings, bytes of buffers. */
  let unreadAnswers = 0;

  /** Bytes of notifications that wait to be sent. */
  function backlog(): number {
    return Math.max(0, socket.bufferedAmount - unreadAnswers);
  }

  function cut(): void {
    isCut = true;
    socket.terminate();
  }

  /** Corks the stream for the rest of this event-loop slice, so that its writes are sent together. */
  function corkForSlice(): void {
    if (isCorked) return;
    isCorked = true;
    backlogBefore = backlog();
    stream.cork();
    process.nextTick(() => {
      isCorked = false;
      stream.uncork();
    });
  }

  /** Sends an answer, together with the other writes of this event-loop slice. */
  function write(text: string): void {
    if (socket.readyState !== socket.OPEN) return;
    corkForSlice();
    countAnswer(text.length, (onRead) => socket.send(text, onRead));
  }

  function countAnswer(length: number, send: (onRead: () => void) => void): void {
    unreadAnswers += length;
    send(() => {
      unreadAnswers -= length;
      parts.onAnswer?.(-length);
      onSent();
    });
    parts.onAnswer?.(length);
  }

  function onSent(): void {
    if (!isPaused) return;
    isAlive = true;
    readMore();
  }

  function readMore(): void {
    while (inFlight < IN_FLIGHT_MESSAGES && socket.bufferedAmount < BACKLOG_PAUSE_BYTES) {
      const message = waiting.shift();
      if (message === undefined) break;
      answer(message);
    }
    if (waiting.length > 0 === isPaused) return;
    isPaused = !isPaused;
    if (isPaused) socket.pause();
    else socket.resume();
  }

  function answer(message: string): void {
    if (message === "") {
      write(errorReply("null", ERRORS.invalidRequest).text);
      return;
    }
    const reading = reader.read(message, sender, (value) => answerValue(value, message));
    if (reading === "busy") write(errorReply("null", ERRORS.tooManyCalls).text);
    else if (reading !== undefined) start(IN_FLIGHT_MESSAGES, () => reading);
  }

  function answerValue(value: unknown, message: string): void {
    const deadlineMs = clock.nowMs() + timeoutMs;
    const caller = new MessageCaller({ remoteHost, isForeignPage, connection, socket, clock, deadlineMs });
    if (Array.isArray(value)) {
      // The whole answer to a batch is held in memory before it is sent, so a batch runs alone.
      start(IN_FLIGHT_MESSAGES, () => answerBatch(value, message, caller));
    } else if (isObject(value)) {
      const reply = dispatcher.answerRequest(value, message, caller);
      if (reply instanceof Promise) start(1, async () => writeReply(await reply));
      else writeReply(reply);
    } else {
      write(
        errorReply("null", value === TOO_MANY_PARTS ? ERRORS.messageTooLarge : ERRORS.internalError).text,
      );
    }
  }

  function writeReply(reply: Reply | undefined): void {
    if (reply?.pieces !== undefined) writePieces(reply.pieces);
    else if (reply !== undefined) write(reply.text);
  }

  /** Like write, for a very large answer. */
  function writePieces(pieces: readonly JsonPiece[]): void {
    if (socket.readyState !== socket.OPEN) return;
    corkForSlice();
    countAnswer(roughLengthOf(pieces), (onRead) => writeFrame(stream, pieces, onRead));
  }

  /** Runs work that counts as `weight` in-flight messages. */
  function start(weight: number, work: () => Promise<void>): void {
    inFlight += weight;
    work()
      .catch(breakOff)
      .finally(() => {
        inFlight -= weight;
        readMore();
      });
  }

  /** Handles a bug of the node: only this connection is ended. */
  function breakOff(error: unknown): void {
    logger.error({ error }, "WebSocket message failed");
    cut();
  }

  async function answerBatch(requests: readonly unknown[], json: string, caller: Caller): Promise<void> {
    const pieces: JsonPiece[] = [];
    let length = 0;
    const rest = await dispatcher.answerBatch(requests, json, caller, (piece) => {
      pieces.push(piece);
      length += piece.length;
      if (length <= BATCH_ANSWER_LIMIT) return;
      pieces.length = 0;
      socket.close(MESSAGE_TOO_BIG, "answer too large");
    });
    if (pieces.length === 0) write(rest);
    else writePieces([...pieces, rest]);
  }

  socket.on("message", (data) => {
    isAlive = true;
    waiting.push(textOf(data));
    try {
      readMore();
    } catch (error) {
      breakOff(error);
    }
  });
  socket.on("pong", () => {
    isAlive = true;
  });
  socket.on("error", (error) => logger.debug({ error }, "WebSocket connection broke"));

  /**
   * Whether to send the client more. Only bytes that were unread before this event-loop slice count against
   * BACKLOG_LIMIT_BYTES, because nothing written in the slice has been sent yet; SLICE_LIMIT_BYTES bounds both together.
   */
  function isKeepingUp(): boolean {
    if (socket.readyState !== socket.OPEN) return false;
    corkForSlice();
    const waitingBytes = backlog();
    parts.onBacklog?.(waitingBytes);
    const isSlow = backlogBefore > BACKLOG_LIMIT_BYTES || waitingBytes > SLICE_LIMIT_BYTES;
    if (!isSlow) return socket.readyState === socket.OPEN;
    logger.warn({ waitingBytes }, "WebSocket client reads too slowly; connection closed");
    cut();
    return false;
  }

  const connection: ServedConnection = {
    send(text) {
      if (isKeepingUp()) socket.send(text, onSent);
    },
    notify(id, event) {
      if (!isKeepingUp()) return;
      const before = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":`;
      if (event.bytes.length < SHARED_BYTES) stream.write(smallFrame(before, event.bytes, "}}"), onSent);
      else writeFrame(stream, [before, event.bytes, "}}"], onSent);
    },
    isBehind: () => !isCut && backlog() > BACKLOG_BEHIND_BYTES,
    cut,
    get backlogBytes() {
      return isCut ? 0 : backlog();
    },
    get unreadAnswerBytes() {
      return isCut ? 0 : unreadAnswers;
    },
    onClose(listener) {
      socket.once("close", listener);
    },
    heartbeat() {
      if (!isAlive && inFlight === 0) {
        cut();
        return;
      }
      isAlive = false;
      if (socket.readyState === socket.OPEN) socket.ping();
    },
  };
  return connection;
}

/** Close code 1009. */
const MESSAGE_TOO_BIG = 1009;

class MessageCaller implements Caller {
  readonly remoteHost: string;
  readonly isForeignPage: boolean;
  readonly connection: Connection;
  readonly #socket: WebSocket;
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #deadlineMs: number;

  constructor(parts: {
    readonly remoteHost: string;
    readonly isForeignPage: boolean;
    readonly connection: Connection;
    readonly socket: WebSocket;
    readonly clock: Pick<Clock, "nowMs">;
    readonly deadlineMs: number;
  }) {
    this.remoteHost = parts.remoteHost;
    this.isForeignPage = parts.isForeignPage;
    this.connection = parts.connection;
    this.#socket = parts.socket;
    this.#clock = parts.clock;
    this.#deadlineMs = parts.deadlineMs;
  }

  get client(): object {
    return this.connection;
  }

  isAbandoned(): boolean {
    return this.#socket.readyState !== this.#socket.OPEN || this.#clock.nowMs() > this.#deadlineMs;
  }
}

/** Treats text and binary messages alike. */
function textOf(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString("utf8");
  return (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)).toString("utf8");
}
