import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Logger } from "../../observability/logger.ts";
import { type JsonPiece, roughLengthOf } from "../../primitives/jsonPieces.ts";
import type { EventText } from "../subscriptions/notificationText.ts";
import { atEndOfCycle } from "./endOfCycle.ts";
import { BACKLOG_BEHIND_BYTES, BACKLOG_LIMIT_BYTES, CYCLE_LIMIT_BYTES } from "./limits.ts";
import { SHARED_BYTES, smallFrame, textFrame, writeFrame } from "./wholeFrame.ts";

export interface OutputParts {
  readonly logger: Logger;
  /** Called before each notification with the bytes of notifications that wait to be sent on this connection. */
  readonly onBacklog?: (bytes: number) => void;
  /** Called with the size of each answer, or part of one, when there is one more and, as a negative number, when it is sent or dropped. */
  readonly onAnswer?: (bytes: number) => void;
}

/**
 * The answers and notifications of one WebSocket connection. What is sent waits in memory until the client has read it.
 * A client that reads its notifications too slowly is cut, because notifications cannot be held back. Unread answers,
 * however large, do not count as slow reading, but have a limit of their own (unreadLimits.ts). The writes of one event-loop
 * cycle are sent together.
 */
export class WebSocketOutput {
  private readonly socket: WebSocket;
  private readonly stream: Duplex;
  private readonly parts: OutputParts;
  private readonly onSent: () => void;
  private isCorked = false;
  private isCut = false;
  /** Bytes of notifications that waited before the first write of the current event-loop cycle. */
  private backlogBefore = 0;
  /** Size of the answers that wait to be sent, in the stream's units: characters of strings, bytes of buffers. */
  private unreadAnswers = 0;
  /** Size of the answers that are being made. */
  private made = 0;

  /** `stream` is the connection under the socket. `onSent` is called whenever something was sent or dropped. */
  constructor(socket: WebSocket, stream: Duplex, parts: OutputParts, onSent: () => void) {
    this.socket = socket;
    this.stream = stream;
    this.parts = parts;
    this.onSent = onSent;
  }

  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  /** Bytes of notifications that wait to be sent; 0 after a cut. */
  get backlogBytes(): number {
    return this.isCut ? 0 : this.backlog();
  }

  /** Size of the answers that are being made or wait to be sent; 0 after a cut. */
  get unreadAnswerBytes(): number {
    return this.isCut ? 0 : this.unreadAnswers + this.made;
  }

  get isBehind(): boolean {
    return this.backlogBytes > BACKLOG_BEHIND_BYTES;
  }

  /** Bytes of answers and notifications that wait to be sent. */
  get waitingBytes(): number {
    return this.socket.bufferedAmount;
  }

  cut(): void {
    this.isCut = true;
    this.socket.terminate();
  }

  /** Counts a part of an answer that is being made; with a negative size, one that is to be written or dropped now. */
  make(size: number): void {
    this.made += size;
    this.parts.onAnswer?.(size);
  }

  /** Sends an answer. */
  write(text: string): void {
    if (!this.isOpen) return;
    this.corkForCycle();
    const onSent = this.countAnswer(text.length);
    if (text.length < SHARED_BYTES) this.stream.write(textFrame(text), onSent);
    else this.socket.send(text, onSent);
    this.parts.onAnswer?.(text.length);
  }

  /** Like write, for a very large answer. */
  writePieces(pieces: readonly JsonPiece[]): void {
    if (!this.isOpen) return;
    this.corkForCycle();
    const length = roughLengthOf(pieces);
    writeFrame(this.stream, pieces, this.countAnswer(length));
    this.parts.onAnswer?.(length);
  }

  /** Sends a message that is no answer, or cuts the connection if the client reads too slowly. */
  send(text: string): void {
    if (this.isKeepingUp()) this.socket.send(text, this.onSent);
  }

  /** Like `send`, for an event notification to the subscription `id`. */
  notify(id: string, event: EventText): void {
    if (!this.isKeepingUp()) return;
    const before = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":`;
    if (event.bytes.length < SHARED_BYTES)
      this.stream.write(smallFrame(before, event.bytes, "}}"), this.onSent);
    else writeFrame(this.stream, [before, event.bytes, "}}"], this.onSent);
  }

  private backlog(): number {
    return Math.max(0, this.socket.bufferedAmount - this.unreadAnswers);
  }

  /** Corks the stream for the rest of this event-loop cycle, so that its writes are sent together. */
  private corkForCycle(): void {
    if (this.isCorked) return;
    this.isCorked = true;
    this.backlogBefore = this.backlog();
    this.stream.cork();
    atEndOfCycle(this.uncork);
  }

  private readonly uncork = (): void => {
    this.isCorked = false;
    this.stream.uncork();
  };

  /** Counts an answer as unread until the returned function is called. */
  private countAnswer(length: number): () => void {
    this.unreadAnswers += length;
    return () => {
      this.unreadAnswers -= length;
      this.parts.onAnswer?.(-length);
      this.onSent();
    };
  }

  /**
   * Whether to send the client more. Only bytes that were unread before this event-loop cycle count against
   * BACKLOG_LIMIT_BYTES, because nothing written in the cycle has been sent yet; CYCLE_LIMIT_BYTES bounds both together.
   */
  private isKeepingUp(): boolean {
    if (!this.isOpen) return false;
    this.corkForCycle();
    const waitingBytes = this.backlog();
    this.parts.onBacklog?.(waitingBytes);
    const isSlow = this.backlogBefore > BACKLOG_LIMIT_BYTES || waitingBytes > CYCLE_LIMIT_BYTES;
    if (!isSlow) return this.isOpen;
    this.parts.logger.warn({ waitingBytes }, "WebSocket client reads too slowly; connection closed");
    this.cut();
    return false;
  }
}
