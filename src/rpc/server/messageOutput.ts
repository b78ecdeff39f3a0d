import type { Logger } from "../../observability/logger.ts";
import { type JsonPiece, roughLengthOf } from "../../primitives/jsonPieces.ts";
import type { EventText } from "../subscriptions/notificationText.ts";
import { atEndOfCycle } from "./endOfCycle.ts";
import { BACKLOG_BEHIND_BYTES, BACKLOG_LIMIT_BYTES, CYCLE_LIMIT_BYTES } from "./limits.ts";
import type { MessageTransport } from "./messageTransport.ts";
import type { UnreadLimits } from "./unreadLimits.ts";

export interface OutputParts {
  readonly logger: Logger;
  /** Bounds what is left unread, with that of other connections. */
  readonly unread: Pick<UnreadLimits, "onBacklog" | "onAnswer">;
}

/**
 * The answers and notifications of one connection. What is sent waits in memory until the client has read it.
 * A client that reads its notifications too slowly is cut, because notifications cannot be held back. Unread answers,
 * however large, do not count as slow reading, but have a limit of their own (unreadLimits.ts). The writes of one event-loop
 * cycle are sent together.
 */
export class MessageOutput {
  private readonly transport: MessageTransport;
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

  /** `onSent` is called whenever something was sent or dropped. */
  constructor(transport: MessageTransport, parts: OutputParts, onSent: () => void) {
    this.transport = transport;
    this.parts = parts;
    this.onSent = onSent;
  }

  get isOpen(): boolean {
    return this.transport.isOpen;
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
    return this.transport.waitingBytes;
  }

  cut(): void {
    this.isCut = true;
    this.transport.cut();
  }

  /** Counts a part of an answer that is being made; with a negative size, one that is to be written or dropped now. */
  make(size: number): void {
    this.made += size;
    this.parts.unread.onAnswer(size);
  }

  /** Sends an answer. */
  write(text: string): void {
    if (!this.isOpen) return;
    this.corkForCycle();
    const onSent = this.countAnswer(text.length);
    this.transport.send(text, onSent);
    this.parts.unread.onAnswer(text.length);
  }

  /** Like write, for a very large answer. */
  writePieces(pieces: readonly JsonPiece[]): void {
    if (!this.isOpen) return;
    this.corkForCycle();
    const length = roughLengthOf(pieces);
    this.transport.sendPieces(pieces, this.countAnswer(length));
    this.parts.unread.onAnswer(length);
  }

  /** Sends a message that is no answer, or cuts the connection if the client reads too slowly. */
  send(text: string): void {
    if (this.isKeepingUp()) this.transport.send(text, this.onSent);
  }

  /** Like `send`, for an event notification to the subscription `id`. */
  notify(id: string, event: EventText): void {
    if (!this.isKeepingUp()) return;
    const before = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":`;
    this.transport.sendShared(before, event.bytes, "}}", this.onSent);
  }

  private backlog(): number {
    return Math.max(0, this.transport.waitingBytes - this.unreadAnswers);
  }

  /** Holds back what is sent for the rest of this event-loop cycle, so that its writes are sent together. */
  private corkForCycle(): void {
    if (this.isCorked) return;
    this.isCorked = true;
    this.backlogBefore = this.backlog();
    this.transport.cork();
    atEndOfCycle(this.uncork);
  }

  private readonly uncork = (): void => {
    this.isCorked = false;
    this.transport.uncork();
  };

  /** Counts an answer as unread until the returned function is called. */
  private countAnswer(length: number): () => void {
    this.unreadAnswers += length;
    return () => {
      this.unreadAnswers -= length;
      this.parts.unread.onAnswer(-length);
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
    this.parts.unread.onBacklog(waitingBytes);
    const isSlow = this.backlogBefore > BACKLOG_LIMIT_BYTES || waitingBytes > CYCLE_LIMIT_BYTES;
    if (!isSlow) return this.isOpen;
    this.parts.logger.warn(
      { waitingBytes },
      `${this.transport.name} client reads too slowly; connection closed`,
    );
    this.cut();
    return false;
  }
}
