/** Tracks the size of a batch's large replies that are encoded and not yet written, so that only a few wait at a time. */
export class InFlightReplies {
  readonly #onChange: (length: number) => void;
  #length = 0;

  /** `onChange` is called with their total size, in characters or bytes, whenever it changes. */
  constructor(onChange: (length: number) => void) {
    this.#onChange = onChange;
  }

  /** Whether no further request should be started until some replies have been written. */
  get isFull(): boolean {
    return this.#length >= FULL_LENGTH;
  }

  /** Counts a reply that has been encoded, and returns it. */
  add<R extends ChunkedReply>(reply: R): R {
    if (reply.heldBytes !== undefined) this.#change(reply.heldBytes);
    return reply;
  }

  /** Discounts a reply that has been written. */
  remove({ heldBytes }: ChunkedReply): void {
    if (heldBytes !== undefined) this.#change(-heldBytes);
  }

  #change(by: number): void {
    this.#length += by;
    this.#onChange(this.#length);
  }
}

/** A reply in pieces, as only a large one is. */
interface ChunkedReply {
  readonly heldBytes?: number;
}

/** Enough that a fast reader does not have to wait for the next reply. */
const FULL_LENGTH = 4 * 1024 * 1024;
