import { type JsonPiece, roughLengthOf } from "../primitives/jsonPieces.ts";

/** Large replies of a batch that are made and not yet written: what they take, and whether more should be made beside them. */
export class InFlightReplies {
  readonly #onChange: (length: number) => void;
  #length = 0;

  /** `onChange` is told what they take together, in characters or bytes, whenever that changes. */
  constructor(onChange: (length: number) => void) {
    this.#onChange = onChange;
  }

  get areEnough(): boolean {
    return this.#length >= ENOUGH_LENGTH;
  }

  /** Counts a reply that has been made, and returns it. */
  add<R extends PerhapsLarge>(reply: R): R {
    if (reply.pieces !== undefined) this.#change(roughLengthOf(reply.pieces));
    return reply;
  }

  /** Forgets one that has been written. */
  remove({ pieces }: PerhapsLarge): void {
    if (pieces !== undefined) this.#change(-roughLengthOf(pieces));
  }

  #change(by: number): void {
    this.#length += by;
    this.#onChange(this.#length);
  }
}

/** A reply that is large comes in pieces. */
interface PerhapsLarge {
  readonly pieces?: readonly JsonPiece[];
}

/** A fast reader always has some more at hand. */
const ENOUGH_LENGTH = 4 * 1024 * 1024;
