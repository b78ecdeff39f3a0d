import type { Clock } from "../../primitives/clock.ts";
import { onceKnown } from "../../primitives/eventual.ts";
import type { JsonPiece } from "../../primitives/jsonPieces.ts";
import type { Gate } from "../access/gate.ts";
import type { Grant } from "../access/grant.ts";
import type { Caller } from "../caller.ts";
import type { Dispatcher } from "../dispatcher.ts";
import { ERRORS, type RpcError } from "../errors/errors.ts";
import type { Connection } from "../method.ts";
import { isObject } from "../parameters/parameters.ts";
import { errorReply, type Reply } from "../reply.ts";
import type { EventText } from "../subscriptions/notificationText.ts";
import type { CallerTime } from "./callerTime.ts";
import { GOING_AWAY, MESSAGE_TOO_BIG, POLICY_VIOLATION, TRY_AGAIN_LATER } from "./closeCodes.ts";
import { ANSWER_LIMIT, BACKLOG_PAUSE_BYTES, BATCH_ANSWER_LIMIT, IN_FLIGHT_MESSAGES } from "./limits.ts";
import { MessageCaller } from "./messageCaller.ts";
import { MessageOutput, type OutputParts } from "./messageOutput.ts";
import type { MessageReader } from "./messageReader.ts";
import type { MessageTransport } from "./messageTransport.ts";
import { TOO_MANY_PARTS } from "./parseMessage.ts";
import { logRefusal } from "./refusalLog.ts";
import { TOKEN_OVER, TokenEnd } from "./tokenEnd.ts";
import type { ReadConnection } from "./unreadLimits.ts";

export interface ConnectionParts extends OutputParts {
  readonly dispatcher: Dispatcher;
  readonly reader: MessageReader;
  readonly callerTime: CallerTime;
  readonly clock: Pick<Clock, "nowMs">;
  /** Long queries stop this long after the request; the caller then gets -32603. */
  readonly timeoutMs: number;
  /** Remote host of the client (remoteHost.ts). */
  readonly remoteHost: string;
  /** Whether the handshake came from a foreign page (foreignPages.ts). */
  readonly isForeignPage: boolean;
  /** Absent where everybody may call. */
  readonly gate?: Gate | undefined;
  /** The token that came with the handshake; it may expire while the connection lasts. */
  readonly token?: string | undefined;
}

/**
 * One connection of messages, over WebSocket or a Unix socket: requests in, answers and notifications out
 * (json-rpc-errors.md#websocket).
 *
 * While a client reads its answers too slowly, the node reads no more requests from it; one that reads its notifications
 * too slowly is cut (messageOutput.ts). Answers are sent when they are ready, in any order.
 */
export class MessageConnection implements Connection, ReadConnection {
  private readonly transport: MessageTransport;
  private readonly parts: ConnectionParts;
  private readonly output: MessageOutput;
  private readonly sender: { readonly remoteHost: string; readonly isAbandoned: () => boolean };
  /** Messages that were received but not started; no more are received while there are any. */
  private readonly waiting: string[] = [];
  private inFlight = 0;
  private isPaused = false;
  private isFinishing = false;
  private hasTaken = true;
  private readonly tokenEnd: TokenEnd;

  constructor(transport: MessageTransport, parts: ConnectionParts) {
    this.transport = transport;
    this.parts = parts;
    const output = new MessageOutput(transport, parts, () => this.onSent());
    this.output = output;
    this.tokenEnd = new TokenEnd(parts.gate);
    this.sender = { remoteHost: parts.remoteHost, isAbandoned: () => !output.isOpen };
  }

  get protocol(): MessageTransport["name"] {
    return this.transport.name;
  }

  get backlogBytes(): number {
    return this.output.backlogBytes;
  }

  get unreadAnswerBytes(): number {
    return this.output.unreadAnswerBytes;
  }

  send(text: string): void {
    this.output.send(text);
  }

  notify(id: string, event: EventText): void {
    if (this.tokenEnd.isOver) this.transport.close(POLICY_VIOLATION, TOKEN_OVER);
    else this.output.notify(id, event);
  }

  subscribed(subscriptions: number): void {
    this.tokenEnd.subscriptions = subscriptions;
  }

  /** Closes a connection that has subscriptions and whose token counts no more. */
  endWithToken(): void {
    if (this.tokenEnd.subscriptions > 0 && this.tokenEnd.isOver)
      this.transport.close(POLICY_VIOLATION, TOKEN_OVER);
  }

  isBehind(): boolean {
    return this.output.isBehind;
  }

  cut(): void {
    this.output.cut();
  }

  close(reason: string): void {
    this.transport.close(TRY_AGAIN_LATER, reason);
  }

  onClose(listener: () => void): void {
    this.transport.onClose(listener);
  }

  /** Whether messages are being answered. */
  get isAnswering(): boolean {
    return this.inFlight > 0;
  }

  /** Whether the client took something of what kept the node from reading more, since this was asked for the last time. */
  tookSome(): boolean {
    const { hasTaken } = this;
    this.hasTaken = false;
    return hasTaken;
  }

  receive(message: string): void {
    if (this.isFinishing) return;
    this.waiting.push(message);
    try {
      this.readMore();
    } catch (error) {
      this.breakOff(error);
    }
  }

  /** Refuses what is no message, and ends the connection once all before it is answered. */
  refuse(error: RpcError, reason: string): void {
    this.logRefusal(reason);
    this.output.write(errorReply("null", error).text);
    this.finish();
  }

  /** Receives nothing more, and ends the connection once all that was received is answered. */
  finish(): void {
    this.isFinishing = true;
    const isDone = this.inFlight === 0 && this.waiting.length === 0;
    if (isDone) this.transport.close(GOING_AWAY, "");
  }

  private onSent(): void {
    if (!this.isPaused) return;
    this.hasTaken = true;
    this.readMore();
  }

  private readMore(): void {
    while (this.inFlight < IN_FLIGHT_MESSAGES && this.output.waitingBytes < BACKLOG_PAUSE_BYTES) {
      const message = this.waiting.shift();
      if (message === undefined) break;
      this.begin(message);
    }
    if (this.waiting.length > 0 === this.isPaused) return;
    this.isPaused = !this.isPaused;
    if (this.isPaused) this.transport.pause();
    else this.transport.resume();
  }

  private begin(message: string): void {
    const { callerTime, remoteHost } = this.parts;
    if (callerTime.isFree(remoteHost)) callerTime.now(remoteHost, () => this.answer(message));
    else
      this.start(1, () =>
        callerTime.inTurn(remoteHost, () => {
          if (this.output.isOpen) this.answer(message);
        }),
      );
  }

  private answer(message: string): void {
    if (message === "") {
      this.logRefusal("empty message");
      this.output.write(errorReply("null", ERRORS.invalidRequest).text);
      return;
    }
    const reading = this.parts.reader.read(message, this.sender, (value) => this.answerValue(value, message));
    if (reading === "busy") {
      this.logRefusal("too much is waiting to be read");
      this.output.write(errorReply("null", ERRORS.tooManyCalls).text);
    } else if (reading !== undefined) this.start(IN_FLIGHT_MESSAGES, () => reading);
  }

  private answerValue(value: unknown, message: string): void {
    const { gate, token, remoteHost } = this.parts;
    const answered = onceKnown(gate?.grant(token, remoteHost), (grant) =>
      this.answerGranted(value, message, grant),
    );
    // Alone, since it may be a batch.
    if (answered instanceof Promise) this.start(IN_FLIGHT_MESSAGES, () => answered);
  }

  private answerGranted(value: unknown, message: string, grant: Grant | undefined): void {
    this.tokenEnd.granted(grant);
    const caller = new MessageCaller(this, this.output, this.parts, grant);
    const { unreadable, emptyBatch } = this.transport;
    if (Array.isArray(value) && value.length === 0 && emptyBatch !== undefined) {
      this.output.write(errorReply("null", emptyBatch).text);
    } else if (Array.isArray(value)) {
      // The whole answer to a batch is held in memory before it is sent, so a batch runs alone.
      this.start(IN_FLIGHT_MESSAGES, () => this.answerBatch(value, message, caller));
    } else if (isObject(value)) {
      const reply = this.parts.dispatcher.answerRequest(value, message, caller);
      if (reply instanceof Promise) this.start(1, async () => this.writeReply(await reply));
      else this.writeReply(reply);
    } else {
      const error = value === TOO_MANY_PARTS ? ERRORS.messageTooLarge : unreadable;
      this.logRefusal(value === TOO_MANY_PARTS ? "too many parts" : "not a JSON object");
      this.output.write(errorReply("null", error).text);
    }
  }

  private writeReply(reply: Reply | undefined): void {
    if (reply?.pieces !== undefined) {
      const { pieces } = reply;
      // Alone: nothing more of the connection is begun before it is made, nor then before it is read.
      this.start(IN_FLIGHT_MESSAGES, () => this.writePieces(pieces));
    } else if (reply !== undefined) this.output.write(reply.text);
  }

  /** Makes a large answer in the turns of the host, and writes it as a whole: a message of WebSocket has a length. */
  private async writePieces(pieces: Iterable<JsonPiece>): Promise<void> {
    const { output } = this;
    const { callerTime, remoteHost } = this.parts;
    const made: JsonPiece[] = [];
    const iterator = pieces[Symbol.iterator]();
    let length = 0;
    try {
      for (;;) {
        const { value, done } = await callerTime.inTurn(remoteHost, () => iterator.next());
        if (done === true || !output.isOpen) break;
        made.push(value);
        length += value.length;
        output.make(value.length);
        if (length > ANSWER_LIMIT) return this.refuseAnswer();
      }
    } finally {
      output.make(-length);
    }
    output.writePieces(made);
  }

  private refuseAnswer(): void {
    this.logRefusal("answer too large");
    this.transport.close(MESSAGE_TOO_BIG, "answer too large");
  }

  private async answerBatch(requests: readonly unknown[], json: string, caller: Caller): Promise<void> {
    const { output } = this;
    const pieces: JsonPiece[] = [];
    let length = 0;
    const write = (piece: JsonPiece): void => {
      length += piece.length;
      // Counted while it is made: it may be cut when all answers together are too large.
      output.make(piece.length);
      if (output.isOpen && length <= BATCH_ANSWER_LIMIT) pieces.push(piece);
      else pieces.length = 0;
      if (!output.isOpen || length <= BATCH_ANSWER_LIMIT) return;
      this.refuseAnswer();
    };
    const answering = this.parts.dispatcher.answerBatch(requests, json, caller, write);
    const rest = await answering.finally(() => output.make(-length));
    if (pieces.length === 0 && typeof rest === "string") output.write(rest);
    else output.writePieces([...pieces, rest]);
  }

  /** Runs work that counts as `weight` in-flight messages. */
  private start(weight: number, work: () => Promise<void>): void {
    this.inFlight += weight;
    work()
      .catch((error: unknown) => this.breakOff(error))
      .finally(() => {
        this.inFlight -= weight;
        this.readMore();
        if (this.isFinishing) this.finish();
      });
  }

  private logRefusal(reason: string): void {
    logRefusal(this.parts.logger, reason, this.parts.remoteHost);
  }

  /** Handles a bug of the node: only this connection is ended. */
  private breakOff(error: unknown): void {
    this.parts.logger.error({ error }, `${this.transport.name} message failed`);
    this.cut();
  }
}
