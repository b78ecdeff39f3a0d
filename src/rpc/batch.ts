import type { JsonPiece } from "../primitives/jsonPieces.ts";
import type { InFlightReplies } from "./inFlightReplies.ts";
import type { Reply } from "./reply.ts";
import type { CallerPacer } from "./server/callerTime.ts";

/** A reply that may still be on its way; undefined for a notification. */
export type Answering = Reply | undefined | Promise<Reply>;

/** A batch of requests, and how each of them is answered. */
interface Batch {
  readonly requests: readonly unknown[];
  /** Starts answering the request at this index; the reply is added to `inFlight`. */
  begin(index: number): Answering;
  /** How many neighbouring requests for this method may run at one time. */
  overlapLimit(method: string): number;
  /** True when nobody waits for the answer any more. */
  isAbandoned(): boolean;
  readonly inFlight: InFlightReplies;
  /** Cuts the work into slices of the event loop. */
  readonly pacer: CallerPacer;
}

/** Receives a piece of the answer; may return a promise to wait for. */
export type WritePiece = (piece: JsonPiece) => void | Promise<void>;

/** Characters of a batch's answer that are collected before they are written. */
export const BATCH_PIECE_LENGTH = 256 * 1024;

/** Answers the requests of a batch in order, as the text of a list: pieces go to `write`, the rest is returned. */
export async function answerBatch(batch: Batch, write: WritePiece): Promise<JsonPiece> {
  const { requests, inFlight, pacer } = batch;
  const replies = new RepliesInOrder(batch);
  const list = new ListText(write);
  for (let index = 0; index < requests.length && !batch.isAbandoned(); index++) {
    const answering = replies.next(index);
    const reply = answering instanceof Promise ? await pacer.waitFor(answering) : answering;
    if (reply !== undefined) {
      const writing = list.add(reply);
      if (writing !== undefined) await pacer.waitFor(writing);
      inFlight.remove(reply);
    }
    if (pacer.isDue()) await pacer.yield();
  }
  return list.end();
}

/** Starts requests in order, neighbours that may overlap together. */
class RepliesInOrder {
  private readonly batch: Batch;
  /** Answers of the next requests, which have been started together with the current one. */
  private readonly ahead: Answering[] = [];

  constructor(batch: Batch) {
    this.batch = batch;
  }

  /** The answer to the request at this index; the indices must follow each other. */
  next(index: number): Answering {
    const { batch, ahead } = this;
    const { requests, inFlight } = batch;
    const method = nameOf(requests[index]);
    const limit = batch.overlapLimit(method);
    const answering = ahead.length > 0 ? ahead.shift() : batch.begin(index);
    for (let next = index + 1 + ahead.length; ahead.length + 1 < limit && !inFlight.isFull; next++) {
      if (nameOf(requests[next]) !== method) break;
      ahead.push(batch.begin(next));
    }
    return answering;
  }
}

/** The text of a list of replies, written in pieces. */
class ListText {
  private readonly write: WritePiece;
  /** What is not written yet. */
  private texts: string[] = ["["];
  private length = 1;
  private isFirst = true;
  /** Whether all of it is known to be of ASCII characters alone. */
  private isAscii = true;

  constructor(write: WritePiece) {
    this.write = write;
  }

  /** Returns a promise only when pieces are written. */
  add(reply: Reply): void | Promise<void> {
    if (!this.isFirst) this.keep(",");
    this.isFirst = false;
    // The text of a reply in pieces would have to be joined first.
    if (reply.pieces !== undefined) return this.addPieces(reply.pieces);
    this.keep(reply.text);
    this.isAscii &&= reply.isAscii === true;
    return this.length < BATCH_PIECE_LENGTH ? undefined : this.flush();
  }

  /** The rest of the list. */
  end(): JsonPiece {
    this.keep("]");
    return this.take();
  }

  private keep(text: string): void {
    this.texts.push(text);
    this.length += text.length;
  }

  private async addPieces(pieces: Iterable<JsonPiece>): Promise<void> {
    for (const piece of pieces) {
      if (typeof piece === "string") {
        this.keep(piece);
        this.isAscii = false;
        if (this.length >= BATCH_PIECE_LENGTH) await this.flush();
      } else {
        if (this.length > 0) await this.flush();
        await this.write(piece);
      }
    }
  }

  private async flush(): Promise<void> {
    await this.write(this.take());
  }

  private take(): JsonPiece {
    const { texts, length, isAscii } = this;
    this.texts = [];
    this.length = 0;
    this.isAscii = true;
    // ASCII texts become bytes here: as text, their length in bytes would be counted and each character encoded; joined first, they would
    // be copied twice.
    return isAscii && length >= BYTES_FROM ? bytesOf(texts, length) : texts.join("");
  }
}

/** A shorter text is sent together with its header. */
const BYTES_FROM = 8 * 1024;

/** The bytes of ASCII texts, `length` in all. */
function bytesOf(texts: readonly string[], length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const text of texts) at += bytes.write(text, at, "latin1");
  return bytes;
}

function nameOf(request: unknown): string {
  if (typeof request !== "object" || request === null || !("method" in request)) return "";
  return typeof request.method === "string" ? request.method : "";
}
