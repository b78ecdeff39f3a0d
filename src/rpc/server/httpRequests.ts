import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Logger } from "../../observability/logger.ts";
import { type JsonPiece, lengthOfPieces, slicesOf } from "../../primitives/jsonPieces.ts";
import { BATCH_PIECE_LENGTH, type Caller, type Dispatcher, errorReply, type Reply } from "../dispatcher.ts";
import { ERRORS } from "../errors/errors.ts";
import { isObject } from "../parameters/parameters.ts";
import { prettyJson, prettySlices } from "../results/prettyJson.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";
import { acceptsJson } from "./accept.ts";
import type { ForeignRule } from "./foreignPages.ts";
import { readBody } from "./httpBody.ts";
import { respondJson, respondUntyped } from "./httpResponse.ts";
import { InFlightResponses } from "./inFlightResponses.ts";
import { ALL_ANSWERS_BYTES, PIPELINE_LIMIT } from "./limits.ts";
import type { MessageReader } from "./messageReader.ts";
import { TOO_MANY_PARTS } from "./parseMessage.ts";
import { remoteHostOf } from "./remoteHost.ts";

export interface HttpRequestSettings {
  readonly maxBodyBytes: number;
  /** Most requests in a batch; no limit when not positive. */
  readonly maxBatchSize: number;
  /** Time to answer; then the client gets 504 and the connection is closed. */
  readonly timeoutMs: number;
  /** Pretty-prints answers, except those to batches. */
  readonly isPretty: boolean;
  /** Recognizes requests of foreign pages. */
  readonly isForeign: ForeignRule;
  /** Limit for all large in-flight answers together; for tests. */
  readonly unreadLimitBytes?: number;
}

/**
 * Answers JSON-RPC over HTTP: the route POST /, after the checks of host and origin (json-rpc-errors.md#http).
 */
export function createHttpRequestHandler(
  settings: HttpRequestSettings,
  parts: {
    readonly dispatcher: Dispatcher;
    readonly reader: MessageReader;
    readonly logger: Logger;
    readonly metrics?: RpcMetrics | undefined;
  },
): (request: IncomingMessage, response: ServerResponse) => void {
  const { dispatcher, reader, logger, metrics } = parts;
  const inFlight = new InFlightResponses(settings.unreadLimitBytes ?? ALL_ANSWERS_BYTES, logger);

  function onBody(request: IncomingMessage, response: ServerResponse, body: string | undefined): void {
    if (body === undefined) {
      metrics?.rejected("body");
      respondUntyped(response, 413, "Request Entity Too Large");
      return;
    }
    if (!acceptsJson(request.headers.accept)) {
      respondUntyped(response, 406, "");
      return;
    }
    const caller = new HttpCaller(request, response, settings.isForeign(request.headers));
    const reading = reader.read(body, caller, (value) => onValue(value, body, caller, response));
    if (reading === "busy") respondJson(response, 200, errorReply("null", ERRORS.tooManyCalls).text);
    else reading?.catch((error: unknown) => breakOff(response, error));
  }

  function onValue(value: unknown, body: string, caller: Caller, response: ServerResponse): void {
    if (Array.isArray(value)) onBatch(value, body, caller, response);
    else if (isObject(value)) onSingle(value, body, caller, response);
    else if (value === TOO_MANY_PARTS)
      respondJson(response, 200, errorReply("null", ERRORS.messageTooLarge).text);
    else respondUntyped(response, 400, errorReply("null", ERRORS.parseError).text);
  }

  function onSingle(value: object, body: string, caller: Caller, response: ServerResponse): void {
    const reply = dispatcher.answerRequest(value, body, caller);
    if (reply instanceof Promise) withTimeout(response, async () => respondSingle(response, await reply));
    else if (reply !== undefined && isLarge(reply))
      withTimeout(response, () => respondSingle(response, reply));
    else respondReply(response, reply);
  }

  /** Whether the answer takes too long to send, or to pretty-print, in one event-loop slice. */
  function isLarge(reply: Reply): boolean {
    return reply.pieces !== undefined || (settings.isPretty && reply.text.length > LAID_OUT_AT_ONCE);
  }

  async function respondSingle(response: ServerResponse, reply: Reply): Promise<void> {
    if (response.writableEnded) return;
    if (!isLarge(reply)) respondReply(response, reply);
    else {
      const pieces = reply.pieces ?? [reply.text];
      await inFlight.during(response, lengthOfPieces(pieces), (onRead) =>
        settings.isPretty ? respondLaidOut(response, reply, onRead) : respondPieces(response, pieces, onRead),
      );
    }
  }

  function onBatch(values: readonly unknown[], body: string, caller: Caller, response: ServerResponse): void {
    if (values.length === 0) {
      respondUntyped(response, 400, errorReply("null", ERRORS.invalidRequest).text);
      return;
    }
    if (settings.maxBatchSize > 0 && values.length > settings.maxBatchSize) {
      metrics?.rejected("batch");
      respondJson(response, 200, errorReply("null", ERRORS.batchTooLarge).text);
      return;
    }
    const hold = (length: number): void => {
      if (!caller.isAbandoned()) inFlight.hold(response, length);
    };
    withTimeout(response, async () => {
      try {
        const rest = await dispatcher.answerBatch(values, body, caller, writeBatch(response), hold);
        if (caller.isAbandoned()) return;
        if (response.headersSent) response.end(rest);
        else respondJson(response, 200, rest);
      } finally {
        inFlight.hold(response, 0);
      }
    });
  }

  function writeBatch(response: ServerResponse): (piece: JsonPiece) => Promise<void> {
    const onRead = (): void => inFlight.wasRead(response);
    return async (piece) => {
      if (piece.length > 2 * BATCH_PIECE_LENGTH) return writePieces(response, [piece], onRead);
      await writePiece(response, piece);
      onRead();
    };
  }

  function respondReply(response: ServerResponse, reply: Reply | undefined): void {
    if (response.writableEnded) return;
    if (reply === undefined) respondJson(response, 200, "");
    else respondJson(response, statusOf(reply), settings.isPretty ? prettyJson(reply.text) : reply.text);
  }

  /** Runs slow work. After `timeoutMs` the client gets 504, or the connection is cut when parts were already sent. */
  function withTimeout(response: ServerResponse, work: () => Promise<void>): void {
    const timer = setTimeout(() => {
      metrics?.rejected("timeout");
      if (response.headersSent) {
        response.destroy();
      } else {
        response.shouldKeepAlive = false;
        respondUntyped(response, 504, "");
      }
    }, settings.timeoutMs);
    work()
      .catch((error: unknown) => breakOff(response, error))
      .finally(() => clearTimeout(timer));
  }

  /** Handles a bug of the node: only the connection of this request is ended. */
  function breakOff(response: ServerResponse, error: unknown): void {
    logger.error({ error }, "HTTP request failed");
    response.destroy();
  }

  return (request, response) =>
    readBody(request, settings.maxBodyBytes, (body) => {
      try {
        onBody(request, response, body);
      } catch (error) {
        breakOff(response, error);
      }
    });
}

class HttpCaller implements Caller {
  readonly connection = undefined;
  readonly isForeignPage: boolean;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #remoteHost: string | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, isForeignPage: boolean) {
    this.isForeignPage = isForeignPage;
    this.#request = request;
    this.#response = response;
  }

  /** Computed on first use, because few requests need it; kept after the connection has closed. */
  get remoteHost(): string {
    this.#remoteHost ??= remoteHostOf(this.#request.socket.remoteAddress);
    return this.#remoteHost;
  }

  /** The connection, so that pipelined requests share one turn among all clients. */
  get client(): object {
    return this.#request.socket;
  }

  isAbandoned(): boolean {
    return this.#request.socket.destroyed || this.#response.writableEnded;
  }
}

/** The HTTP status that the error code decides (json-rpc-errors.md#requests). */
function statusOf({ error }: Reply): number {
  switch (error?.code) {
    case ERRORS.parseError.code:
    case ERRORS.invalidRequest.code:
      return 400;
    case ERRORS.unauthorized.code:
      return 401;
    default:
      return 200;
  }
}

/** Like respondJson, but writes no faster than the client reads and yields to the event loop in between. */
async function respondPieces(
  response: ServerResponse,
  pieces: readonly JsonPiece[],
  onRead: () => void,
): Promise<void> {
  if (response.writableEnded) return;
  const length = lengthOfPieces(pieces);
  response.writeHead(200, { "Content-Type": "application/json", Vary: "origin", "Content-Length": length });
  await writePieces(response, pieces, onRead);
  if (!response.writableEnded) response.end();
}

/** Like respondPieces, without Content-Length: the length is unknown until all parts are pretty-printed. */
async function respondLaidOut(response: ServerResponse, reply: Reply, onRead: () => void): Promise<void> {
  if (response.writableEnded) return;
  response.writeHead(statusOf(reply), { "Content-Type": "application/json", Vary: "origin" });
  await writePieces(response, prettySlices(reply.pieces ?? [reply.text]), onRead);
  if (!response.writableEnded) response.end();
}

/** Characters that are pretty-printed in one event-loop slice. */
const LAID_OUT_AT_ONCE = 64 * 1024;

async function writePieces(
  response: ServerResponse,
  pieces: Iterable<JsonPiece>,
  onRead?: () => void,
): Promise<void> {
  for (const slice of slicesOf(pieces)) {
    if (response.writableEnded || response.destroyed || response.req.socket.destroyed) return;
    await writePiece(response, slice);
    onRead?.();
    await yieldToEventLoop();
  }
}

/** Sends a part of an answer; the promise waits until the client has read the parts before. */
function writePiece(response: ServerResponse, piece: JsonPiece): void | Promise<void> {
  if (response.writableEnded || response.destroyed) return;
  if (!response.headersSent) {
    response.writeHead(200, { "Content-Type": "application/json", Vary: "origin" });
  }
  if (response.write(piece)) return;
  // A response that waits behind another one of its connection gets no event when that connection closes.
  const { socket } = response.req;
  if (socket.destroyed) return;
  socket.setMaxListeners(SOCKET_LISTENERS);
  return new Promise((resolve) => {
    const resume = (): void => {
      response.off("drain", resume);
      response.off("close", resume);
      socket.off("close", resume);
      resolve();
    };
    response.on("drain", resume);
    response.on("close", resume);
    socket.on("close", resume);
  });
}

/** One for each response that may wait, and some for other listeners. */
const SOCKET_LISTENERS = 2 * PIPELINE_LIMIT;
