import type { ServerResponse } from "node:http";
import type { Logger } from "../../observability/logger.ts";
import {
  type JsonPiece,
  joinPieces,
  lengthOfPieces,
  roughLengthOf,
  slicesOf,
} from "../../primitives/jsonPieces.ts";
import type { Requester } from "../../primitives/requester.ts";
import { BATCH_PIECE_LENGTH, type WritePiece } from "../batch.ts";
import { ERRORS } from "../errors/errors.ts";
import type { Reply } from "../reply.ts";
import { prettyJson, prettySlices } from "../results/prettyJson.ts";
import { CallerTime } from "./callerTime.ts";
import { atEndOfCycle } from "./endOfCycle.ts";
import { respondJson } from "./httpResponse.ts";
import { InFlightResponses } from "./inFlightResponses.ts";
import { ALL_ANSWERS_BYTES, PIPELINE_LIMIT } from "./limits.ts";
import { type SharedTotals, shareTotals } from "./sharedTotals.ts";

export interface HttpAnswerSettings {
  /** Pretty-prints answers, except those to batches. */
  readonly isPrettyPrinted: boolean;
  /** Limit for all large in-flight answers together; for tests. */
  readonly unreadLimitBytes?: number;
}

export interface HttpAnswerParts {
  readonly logger: Logger;
  /** What is held together with other threads; nothing is if not given. */
  readonly totals?: Pick<SharedTotals, "httpAnswers"> | undefined;
  /** Bounds these answers together with those of other servers on this thread; these alone are bounded if not given. */
  readonly inFlight?: InFlightResponses | undefined;
  /** The time of this thread; that of these answers alone if not given. */
  readonly callerTime?: CallerTime | undefined;
  /** For tests; the time of the process if not given. */
  readonly nowMs?: () => number;
}

/** An answer other than one of JSON-RPC. */
interface MadeAnswer {
  readonly status: number;
  /** The Content-Type. */
  readonly type: string;
  /** The body, which is made while it is read, and can be read once. */
  readonly pieces: Iterable<JsonPiece>;
  /** About the bytes that the pieces keep in memory until they are read. */
  readonly heldBytes: number;
}

/** Who is answered. */
type AnsweredCaller = Pick<Requester, "remoteHost" | "isAbandoned">;

/** Sends the answers of the HTTP server: small ones at the end of the event-loop cycle, large ones no faster than the client reads. */
export class HttpAnswers {
  readonly callerTime: CallerTime;
  private readonly isPrettyPrinted: boolean;
  private readonly logger: Logger;
  private readonly inFlight: InFlightResponses;

  constructor(
    { isPrettyPrinted, unreadLimitBytes = ALL_ANSWERS_BYTES }: HttpAnswerSettings,
    {
      logger,
      totals: { httpAnswers: total } = shareTotals(),
      nowMs,
      inFlight = new InFlightResponses(unreadLimitBytes, { logger, total, nowMs }),
      callerTime = new CallerTime(),
    }: HttpAnswerParts,
  ) {
    this.callerTime = callerTime;
    this.isPrettyPrinted = isPrettyPrinted;
    this.logger = logger;
    this.inFlight = inFlight;
  }

  /** Whether the answer takes too long to send, or to pretty-print, in one event-loop slice. */
  isLarge(reply: Reply): boolean {
    return reply.pieces !== undefined || (this.isPrettyPrinted && reply.text.length > LAID_OUT_AT_ONCE);
  }

  /** Sends an answer that is not large, with others of this cycle of the event loop; undefined is the answer to a notification. */
  respond(response: ServerResponse, reply: Reply | undefined): void {
    if (reply === undefined) this.respondSoon(response, 200, "");
    else
      this.respondSoon(response, statusOf(reply), this.isPrettyPrinted ? prettyJson(reply.text) : reply.text);
  }

  /** Sends the answer that `make` makes, which notes what it holds along the way. */
  async respondMade(
    response: ServerResponse,
    caller: AnsweredCaller,
    make: (onInFlight: (bytes: number) => void) => Promise<MadeAnswer>,
  ): Promise<void> {
    const { inFlight } = this;
    try {
      const answer = await make((bytes) => {
        if (caller.isAbandoned()) return;
        // A client that waits for its answer is not slow.
        inFlight.wasRead(response);
        inFlight.hold(response, bytes);
      });
      await this.sendMade(response, answer, caller);
    } finally {
      inFlight.hold(response, 0);
    }
  }

  /** Sends an answer that is made as it is read: a short one with others of this cycle, a long one no faster than the client reads. */
  private async sendMade(
    response: ServerResponse,
    { status, type, pieces, heldBytes }: MadeAnswer,
    caller: AnsweredCaller,
  ): Promise<void> {
    if (response.writableEnded) return;
    const slices = slicesOf(pieces);
    const made: JsonPiece[] = [];
    let next = slices.next();
    while (next.done !== true && roughLengthOf(made) < SENT_AT_ONCE) {
      made.push(next.value);
      next = slices.next();
    }
    if (next.done === true) {
      this.respondSoon(response, status, joinPieces(made), type);
      return;
    }
    const all = after([...made, next.value], slices);
    const length = isList(pieces) ? { "Content-Length": lengthOfPieces(pieces) } : {};
    await this.inFlight.during(response, heldBytes, async (onRead) => {
      response.writeHead(status, { "Content-Type": type, Vary: "origin", ...length });
      await this.writePieces(response, all, { caller, onRead });
      if (!response.writableEnded) response.end();
    });
  }

  private respondSoon(response: ServerResponse, status: number, json: JsonPiece, type?: string): void {
    atEndOfCycle(() => {
      if (response.writableEnded) return;
      try {
        respondJson(response, status, json, type);
      } catch (error) {
        this.logger.error({ error }, "HTTP answer failed");
        response.destroy();
      }
    });
  }

  /** Like `respond`, for an answer that may be large, which is sent no faster than the client reads. */
  async respondSlowly(response: ServerResponse, reply: Reply, caller: AnsweredCaller): Promise<void> {
    if (response.writableEnded) return;
    if (!this.isLarge(reply)) {
      this.respond(response, reply);
      return;
    }
    const { pieces = [reply.text], heldBytes = reply.text.length } = reply;
    await this.inFlight.during(response, heldBytes, (onRead) =>
      this.send(response, reply, { pieces, caller, onRead }),
    );
  }

  /** Makes and writes a large answer no faster than the client reads, in the turns of its host. */
  private async send(
    response: ServerResponse,
    reply: Reply,
    { pieces, caller, onRead }: { pieces: Iterable<JsonPiece>; caller: AnsweredCaller; onRead: () => void },
  ): Promise<void> {
    // Unknown until all parts are made, or pretty-printed.
    const length =
      !this.isPrettyPrinted && isList(pieces) ? { "Content-Length": lengthOfPieces(pieces) } : {};
    response.writeHead(statusOf(reply), { "Content-Type": "application/json", Vary: "origin", ...length });
    await this.writePieces(response, this.isPrettyPrinted ? prettySlices(pieces) : pieces, {
      caller,
      onRead,
    });
    if (!response.writableEnded) response.end();
  }

  private async writePieces(
    response: ServerResponse,
    pieces: Iterable<JsonPiece>,
    { caller: { remoteHost }, onRead }: { readonly caller: AnsweredCaller; readonly onRead: () => void },
  ): Promise<void> {
    const slices = slicesOf(pieces);
    for (;;) {
      const { value: slice, done } = await this.callerTime.inTurn(remoteHost, () => slices.next());
      if (done === true) return;
      if (response.writableEnded || response.destroyed || response.req.socket.destroyed) return;
      await writePiece(response, slice);
      onRead();
    }
  }

  /** Sends the answer to a batch: `produce` writes pieces along the way, notes what it holds, and returns the rest. */
  async respondBatch(
    response: ServerResponse,
    caller: AnsweredCaller,
    produce: (write: WritePiece, onInFlight: (length: number) => void) => Promise<JsonPiece>,
  ): Promise<void> {
    const { inFlight } = this;
    const hold = (length: number): void => {
      if (!caller.isAbandoned()) inFlight.hold(response, length);
    };
    try {
      const rest = await produce(this.batchWriter(response, caller), hold);
      if (caller.isAbandoned()) return;
      if (response.headersSent) response.end(rest);
      else this.respondSoon(response, 200, rest);
    } finally {
      inFlight.hold(response, 0);
    }
  }

  private batchWriter(response: ServerResponse, caller: AnsweredCaller): (piece: JsonPiece) => Promise<void> {
    const onRead = (): void => this.inFlight.wasRead(response);
    return async (piece) => {
      if (piece.length > 2 * BATCH_PIECE_LENGTH)
        return this.writePieces(response, [piece], { caller, onRead });
      await writePiece(response, piece);
      onRead();
    };
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

/** Characters from which an answer is sent as it is read. */
const SENT_AT_ONCE = 64 * 1024;

/** Characters that are pretty-printed in one event-loop slice. */
const LAID_OUT_AT_ONCE = 64 * 1024;

function isList(pieces: Iterable<JsonPiece>): pieces is readonly JsonPiece[] {
  return Array.isArray(pieces);
}

function* after(pieces: readonly JsonPiece[], others: Iterable<JsonPiece>): Generator<JsonPiece, void> {
  yield* pieces;
  yield* others;
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

/** Listeners that a socket may have: one for each response that may wait, and as many others. */
const SOCKET_LISTENERS = 2 * PIPELINE_LIMIT;
