import { concatBytes } from "../../primitives/hex.ts";
import { MAX_PAYLOAD_BYTES, PIECE_BYTES } from "../limits.ts";
import type { FrameWriter } from "./frames.ts";
import { encodeMessageId } from "./message.ts";
import type { MessagePriority } from "./messagePriority.ts";
import type { SendQueue } from "./sendQueue.ts";
import { compressSnappy } from "./snappy.ts";

/** A message whose frame is written in pieces, with its progress. */
interface PartialFrame {
  readonly bytes: Uint8Array;
  readonly written: number;
}

/** The outgoing messages of one connection: queued (sendQueue.ts), then written as frames, large ones in pieces. */
export class MessageWriter {
  /** Whether messages queued from now on are compressed; false at first. */
  isCompressed = false;
  private readonly sends: SendQueue;
  private frames: FrameWriter | undefined;
  private partial: PartialFrame | undefined;

  constructor(sends: SendQueue) {
    this.sends = sends;
  }

  get hasNext(): boolean {
    return this.partial !== undefined || !this.sends.isEmpty;
  }

  /** Sets the writer of frames, once the handshake is complete. */
  start(frames: FrameWriter): void {
    this.frames = frames;
  }

  /** Queues a message; false when it is too large, or too much is queued. */
  send(id: number, payload: Uint8Array, priority: MessagePriority): boolean {
    if (payload.length > MAX_PAYLOAD_BYTES) return false;
    const bytes = this.isCompressed ? compressSnappy(payload) : payload;
    return bytes.length <= MAX_PAYLOAD_BYTES && this.sends.push({ id, bytes }, priority);
  }

  /** Queues a message of the base protocol, at most one per id. */
  sendBase(id: number, payload: Uint8Array): void {
    this.sends.pushBase({ id, bytes: this.isCompressed ? compressSnappy(payload) : payload });
  }

  /** The next bytes to write, at most a piece and some 100 bytes; undefined when nothing can be written. */
  next(): Uint8Array | undefined {
    const { frames, partial } = this;
    if (frames === undefined) return undefined;
    if (partial !== undefined) return this.nextPiece(frames, partial);
    const message = this.sends.shift();
    if (message === undefined) return undefined;
    const { id, bytes } = message;
    const first = encodeMessageId(id);
    if (bytes.length <= PIECE_BYTES) return frames.write(concatBytes(first, bytes));
    const begun = { bytes, written: 0 };
    return concatBytes(frames.begin(1 + bytes.length), frames.add(first), this.nextPiece(frames, begun));
  }

  /** Drops the queued messages; one that is being written is completed. */
  dropWaiting(): void {
    this.sends.dropWaiting();
  }

  stop(): void {
    this.sends.clear();
    this.partial = undefined;
    this.frames = undefined;
  }

  private nextPiece(frames: FrameWriter, { bytes, written }: PartialFrame): Uint8Array {
    const until = written + PIECE_BYTES;
    const piece = frames.add(bytes.subarray(written, until));
    this.partial = until < bytes.length ? { bytes, written: until } : undefined;
    return this.partial === undefined ? concatBytes(piece, frames.end()) : piece;
  }
}
