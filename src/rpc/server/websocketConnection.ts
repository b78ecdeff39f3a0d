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
  MESSAGES_UNDER_WAY,
  TURN_LIMIT_BYTES,
} from "./limits.ts";
import type { MessageReader } from "./messageReader.ts";
import { TOO_MUCH } from "./parseMessage.ts";
import { SHARED_BYTES, smallFrame, writeFrame } from "./wholeFrame.ts";

/**
 * One WebSocket connection: messages in, answers and notifications out (json-rpc-errors.md#websocket).
 *
 * What is sent waits in memory until the client has read it. So a client that asks faster than it reads is not read
 * from any more until it has caught up; one that only listens, and too slowly, is cut, because notifications cannot
 * wait. The answers that it asked for do not make it slow, however large; but they, too, are counted (websocket.ts).
 * Answers come as they are ready, in any order.
 */
export interface ServedConnection extends Connection {
  /** Notifications that wait to be sent; none once it is cut. */
  readonly backlogBytes: number;
  /** Answers that wait to be sent; none once it is cut. */
  readonly unreadAnswerBytes: number;
  /** Asks for a sign of life, and cuts the connection when there was none since the last time. */
  heartbeat(): void;
}

export interface ConnectionParts {
  readonly dispatcher: Dispatcher;
  readonly reader: MessageReader;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  /** Long queries stop this long after they were asked; the caller then gets -32603. */
  readonly timeoutMs: number;
  /** Where the client is (machine.ts). */
  readonly remoteHost: string;
  /** Whether the handshake was a foreign page's (foreignPages.ts). */
  readonly isForeignPage: boolean;
  /** Told what notifications wait to be sent here, before each of them. */
  readonly onBacklog?: (bytes: number) => void;
  /** Told of each answer when it is written and, as a negative number, when it is sent, or given up. */
  readonly onAnswer?: (bytes: number) => void;
}

/** `stream` is the connection under the socket. */
export function serveConnection(socket: WebSocket, stream: Duplex, parts: ConnectionParts): ServedConnection {
  const { dispatcher, reader, clock, logger, timeoutMs, remoteHost, isForeignPage } = parts;
  /** Messages that have come in but are not begun; the socket is paused as long as there are any. */
  const waiting: string[] = [];
  const sender = { remoteHost: remoteHost, isAbandoned: () => socket.readyState !== socket.OPEN };
  let underWay = 0;
  let isPaused = false;
  let isCorked = false;
  let hasShownLife = true;
  let isCut = false;
  /** Bytes of notifications that were waiting when the first message of this turn came. */
  let backlogBefore = 0;
  /** As the stream counts: characters of texts, bytes of the rest. */
  let unreadAnswers = 0;

  /** What waits to be sent without having been asked for. */
  function backlog(): number {
    return Math.max(0, socket.bufferedAmount - unreadAnswers);
  }

  function cut(): void {
    isCut = true;
    socket.terminate();
  }

  /** Gathers what is written in this turn of the event loop, so that it goes out together. */
  function gather(): void {
    if (isCorked) return;
    isCorked = true;
    backlogBefore = backlog();
    stream.cork();
    process.nextTick(() => {
      isCorked = false;
      stream.uncork();
    });
  }

  /** Puts an answer on its way, together with others of this turn of the event loop. */
  function write(text: string): void {
    if (socket.readyState !== socket.OPEN) return;
    gather();
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
    hasShownLife = true;
    readOn();
  }

  function readOn(): void {
    while (underWay < MESSAGES_UNDER_WAY && socket.bufferedAmount < BACKLOG_PAUSE_BYTES) {
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
    else if (reading !== undefined) start(MESSAGES_UNDER_WAY, () => reading);
  }

  function answerValue(value: unknown, message: string): void {
    const deadlineMs = clock.nowMs() + timeoutMs;
    const caller = new MessageCaller({ remoteHost, isForeignPage, connection, socket, clock, deadlineMs });
    if (Array.isArray(value)) {
      // A batch is gathered before it is sent, so nothing else may be gathered beside it.
      start(MESSAGES_UNDER_WAY, () => answerBatch(value, message, caller));
    } else if (isObject(value)) {
      const reply = dispatcher.answerRequest(value, message, caller);
      if (reply instanceof Promise) start(1, async () => writeReply(await reply));
      else writeReply(reply);
    } else {
      write(errorReply("null", value === TOO_MUCH ? ERRORS.messageTooLarge : ERRORS.internalError).text);
    }
  }

  function writeReply(reply: Reply | undefined): void {
    if (reply?.pieces !== undefined) writePieces(reply.pieces);
    else if (reply !== undefined) write(reply.text);
  }

  /** As write, for a message that is very large. */
  function writePieces(pieces: readonly JsonPiece[]): void {
    if (socket.readyState !== socket.OPEN) return;
    gather();
    countAnswer(roughLengthOf(pieces), (onRead) => writeFrame(stream, pieces, onRead));
  }

  /** Runs work that takes as much of the connection's allowance as `weight` messages. */
  function start(weight: number, work: () => Promise<void>): void {
    underWay += weight;
    work()
      .catch(breakOff)
      .finally(() => {
        underWay -= weight;
        readOn();
      });
  }

  /** A bug of ours: this connection ends, and nobody else is touched. */
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
    hasShownLife = true;
    waiting.push(textOf(data));
    try {
      readOn();
    } catch (error) {
      breakOff(error);
    }
  });
  socket.on("pong", () => {
    hasShownLife = true;
  });
  socket.on("error", (error) => logger.debug({ error }, "WebSocket connection broke"));

  /**
   * Whether the client is sent more. What counts is what it left unread before this turn of the event loop, because
   * nothing of what is written in it has been on its way yet; but that, too, has an end.
   */
  function isKeepingUp(): boolean {
    if (socket.readyState !== socket.OPEN) return false;
    gather();
    const waitingBytes = backlog();
    parts.onBacklog?.(waitingBytes);
    const isSlow = backlogBefore > BACKLOG_LIMIT_BYTES || waitingBytes > TURN_LIMIT_BYTES;
    if (!isSlow) return socket.readyState === socket.OPEN;
    logger.warn({ waitingBytes }, "WebSocket client reads too slowly; cut off");
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
      if (!hasShownLife && underWay === 0) {
        cut();
        return;
      }
      hasShownLife = false;
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

/** Text and binary messages are treated alike. */
function textOf(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString("utf8");
  return (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)).toString("utf8");
}
