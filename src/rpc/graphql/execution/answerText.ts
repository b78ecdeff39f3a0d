import {
  countOf,
  digitsOf,
  putAscii,
  putDigits,
  putHex,
  putScalar,
  viewOf,
} from "../../../primitives/asciiBytes.ts";

/**
 * The text of `data` as Besu formats it: each member of an object on its own line, a list on one line. It can be cut off at an
 * earlier place, where a null stands for what follows. It is written directly into bytes, which are outside of the thread's heap,
 * in pieces of 192 KB; a long value can make a piece longer.
 */
export class AnswerText {
  private readonly full: Buffer<ArrayBuffer>[] = [];
  private fullLength = 0;
  /** The last piece, which still grows, and as much of it as is written. */
  private piece = Buffer.allocUnsafe(FIRST_PIECE_BYTES);
  private view = viewOf(this.piece);
  private end = 0;
  /** Number of objects that are open, and one for `data`. */
  private depth = 1;
  private before: Before = "nothing";

  /** Length in bytes. */
  get length(): number {
    return this.fullLength + this.end;
  }

  /** The text in pieces; nothing is to be written after that. */
  pieces(): readonly Uint8Array[] {
    return [...this.full, this.piece.subarray(0, this.end)];
  }

  beginObject(): void {
    this.beginValue(1);
    this.piece[this.end++] = OPEN_BRACE;
    this.depth++;
    this.before = "opening";
  }

  endObject(): void {
    this.depth--;
    this.reserve(2 * this.depth + PUNCTUATION_BYTES);
    if (this.before === "opening") this.piece[this.end++] = BLANK;
    else this.beginLine();
    this.piece[this.end++] = CLOSE_BRACE;
    this.before = "value";
  }

  /** The name of a member, whose value follows. */
  name({ words, length }: MemberName): void {
    this.reserve(length + 2 * this.depth + PUNCTUATION_BYTES);
    if (this.before === "value") this.piece[this.end++] = COMMA;
    this.beginLine();
    const { view, end } = this;
    for (let index = 0; index < words.length; index++)
      view.setUint32(end + WORD_BYTES * index, words[index] as number);
    this.end = end + length;
    this.before = "name";
  }

  beginList(): void {
    this.beginValue(1);
    this.piece[this.end++] = OPEN_BRACKET;
    this.before = "opening";
  }

  endList(): void {
    this.reserve(PUNCTUATION_BYTES);
    this.piece[this.end++] = BLANK;
    this.piece[this.end++] = CLOSE_BRACKET;
    this.before = "value";
  }

  /** A number, as hex without leading zeros. */
  quantity(value: bigint | number): void {
    const digits = digitsOf(value);
    this.beginData(countOf(digits));
    this.end = putDigits(this.piece, this.end, digits);
    this.piece[this.end++] = QUOTE;
  }

  /** A number of big-endian bytes, as hex without leading zeros. */
  scalar(bytes: Uint8Array): void {
    this.beginData(2 * bytes.length);
    this.end = putScalar(this.piece, this.view, this.end, bytes);
    this.piece[this.end++] = QUOTE;
  }

  /** Bytes as hex. */
  data(bytes: Uint8Array): void {
    this.beginData(2 * bytes.length);
    this.end = putHex(this.piece, this.view, this.end, bytes);
    this.piece[this.end++] = QUOTE;
  }

  /** Like `data`, for bytes of any length, with pauses in between. */
  *longData(bytes: Uint8Array): Generator<void, void> {
    this.beginData(0);
    for (let at = 0; at < bytes.length; at += STEP_BYTES) {
      const part = bytes.subarray(at, at + STEP_BYTES);
      this.reserve(2 * part.length);
      this.end = putHex(this.piece, this.view, this.end, part);
      yield;
    }
    this.reserve(PUNCTUATION_BYTES);
    this.piece[this.end++] = QUOTE;
  }

  /** A text of ASCII characters that need no escape, such as hex. */
  plain(text: string): void {
    const { length } = text;
    this.beginValue(length);
    this.piece[this.end++] = QUOTE;
    if (length < NATIVE_BYTES) this.end = putAscii(this.piece, this.end, text);
    else this.end += this.piece.write(text, this.end, "latin1");
    this.piece[this.end++] = QUOTE;
  }

  /** A value as JSON, of any characters. */
  json(json: string): void {
    // A character has three bytes at most.
    this.beginValue(3 * json.length);
    this.end += this.piece.write(json, this.end, "utf8");
  }

  mark(): Mark {
    return { pieces: this.full.length, end: this.end, depth: this.depth, before: this.before };
  }

  /** Cuts the text off at a mark. */
  returnTo({ pieces, end, depth, before }: Mark): void {
    const [last] = this.full.slice(pieces);
    if (last !== undefined) {
      for (const dropped of this.full.splice(pieces)) this.fullLength -= dropped.length;
      this.use(last);
    }
    this.end = end;
    this.depth = depth;
    this.before = before;
  }

  private beginData(digits: number): void {
    this.beginValue(digits);
    const { piece, end } = this;
    piece[end] = QUOTE;
    piece[end + 1] = ZERO;
    piece[end + 2] = LETTER_X;
    this.end = end + 3;
  }

  /** Reserves room for a value of so many bytes and its punctuation, and writes what stands before it in a list. */
  private beginValue(bytes: number): void {
    this.reserve(bytes + PUNCTUATION_BYTES);
    if (this.before === "value") this.piece[this.end++] = COMMA;
    if (this.before !== "name" && this.before !== "nothing") this.piece[this.end++] = BLANK;
    this.before = "value";
  }

  private beginLine(): void {
    const { view } = this;
    this.piece[this.end++] = LINE_FEED;
    const end = this.end + 2 * this.depth;
    for (let at = this.end; at < end; at += WORD_BYTES) view.setUint32(at, BLANKS);
    this.end = end;
  }

  private reserve(more: number): void {
    const needed = this.end + more;
    if (needed > this.piece.length) this.makeRoom(more, needed);
  }

  /** Ends the piece, unless much of it is free: then it grows. */
  private makeRoom(more: number, needed: number): void {
    if (this.end >= FULL_PIECE_BYTES) {
      this.full.push(this.piece.subarray(0, this.end));
      this.fullLength += this.end;
      this.use(Buffer.allocUnsafe(Math.max(PIECE_BYTES, more)));
      this.end = 0;
    } else {
      const larger = Buffer.allocUnsafe(Math.max(needed, Math.min(PIECE_BYTES, 4 * this.piece.length)));
      this.piece.copy(larger, 0, 0, this.end);
      this.use(larger);
    }
  }

  private use(piece: Buffer<ArrayBuffer>): void {
    this.piece = piece;
    this.view = viewOf(piece);
  }
}

/** The name of a member up to its value, as it is written: four bytes at a time, of which the last ones are written over. */
export interface MemberName {
  readonly words: Uint32Array;
  /** Length in bytes. */
  readonly length: number;
}

export function memberName(key: string): MemberName {
  const text = `"${key}" : `;
  const bytes = Buffer.alloc(text.length + WORD_BYTES, text, "latin1");
  const words = new Uint32Array(Math.ceil(text.length / WORD_BYTES));
  for (let index = 0; index < words.length; index++) words[index] = bytes.readUInt32BE(WORD_BYTES * index);
  return { words, length: text.length };
}

/** What stands before the next value or name. */
type Before = "nothing" | "opening" | "name" | "value";

export interface Mark {
  readonly pieces: number;
  readonly end: number;
  readonly depth: number;
  readonly before: Before;
}

/** Most answers are short. */
const FIRST_PIECE_BYTES = 4 * 1024;
const PIECE_BYTES = 192 * 1024;
/** A piece with less is not ended, so that no more than a quarter of it is free. */
const FULL_PIECE_BYTES = 144 * 1024;
/** Bytes that longData writes without a pause. */
const STEP_BYTES = 64 * 1024;
/** Length from which on the platform's own copy is faster. */
const NATIVE_BYTES = 128;
/** More than stands around a value or a name, besides the blanks before it, and more than is written over. */
const PUNCTUATION_BYTES = 16;
const WORD_BYTES = 4;

const QUOTE = 0x22;
const ZERO = 0x30;
const LETTER_X = 0x78;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const BLANK = 0x20;
const BLANKS = 0x20202020;
const LINE_FEED = 0x0a;
