import { countOf, digitsOf, putAscii, putDigits, putHex, putHexOfRange, viewOf } from "./asciiBytes.ts";
import { assert } from "./assert.ts";

/**
 * Returns the JSON text that `write` produces. All calls share one writer, so `write` must be synchronous and calls
 * must not nest.
 */
export function jsonText(write: (writer: JsonWriter) => void): string {
  assert(!isBusy, "one JSON text is written at a time");
  isBusy = true;
  try {
    write(shared);
    return shared.text();
  } finally {
    shared.clear();
    isBusy = false;
  }
}

/**
 * Like jsonText, for long texts: `write` yields where it may be interrupted. The text is the concatenation of the pieces, each of
 * which is made when it is asked for.
 */
export function* jsonPieces(
  write: (writer: JsonWriter) => Iterable<void>,
  pieceBytes = PIECE_BYTES,
): Generator<Uint8Array, void> {
  const writer = new JsonWriter();
  for (const _ of write(writer)) if (writer.length >= pieceBytes) yield writer.takePiece();
  yield writer.takePiece();
}

/** Runs an interruptible writer to its end without a pause. */
export function writeAtOnce(pauses: Iterable<void>): void {
  for (const _ of pauses);
}

const PIECE_BYTES = 192 * 1024;

/**
 * Writes JSON directly into bytes (asciiBytes.ts). Only for text that needs no escaping: hex, numbers, and names in the source.
 */
export class JsonWriter {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES);
  #view = viewOf(this.#bytes);
  #length = 0;
  /** The byte before the first one in the buffer. */
  #before = OPEN_BRACKET;

  /** Bytes written since the last piece was taken. */
  get length(): number {
    return this.#length;
  }

  beginObject(name = ""): void {
    this.#start(name, 0);
    this.#bytes[this.#length++] = OPEN_BRACE;
  }

  endObject(): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = CLOSE_BRACE;
  }

  beginList(name = ""): void {
    this.#start(name, 0);
    this.#bytes[this.#length++] = OPEN_BRACKET;
  }

  endList(): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = CLOSE_BRACKET;
  }

  /** A data member: all its bytes as hex. */
  data(name: string, bytes: Uint8Array): void {
    this.#start(name, 2 * bytes.length);
    this.#ascii('"0x');
    this.#hex(bytes);
    this.#bytes[this.#length++] = QUOTE;
  }

  /** Like `data`, for bytes of any length, with pauses in between. */
  *longData(name: string, bytes: Uint8Array): Generator<void, void> {
    if (bytes.length <= STEP_BYTES) {
      this.data(name, bytes);
      return;
    }
    this.#start(name, 0);
    this.#ascii('"0x');
    for (let at = 0; at < bytes.length; at += STEP_BYTES) {
      const part = bytes.subarray(at, at + STEP_BYTES);
      this.#reserve(2 * part.length);
      this.#hex(part);
      yield;
    }
    this.#reserve(1);
    this.#bytes[this.#length++] = QUOTE;
  }

  /** A data item of a list. */
  dataItem(bytes: Uint8Array): void {
    this.data("", bytes);
  }

  /** Data items of a list, of `size` bytes each, which lie one behind the other. */
  dataItems(bytes: Uint8Array, size: number): void {
    for (let from = 0; from < bytes.length; from += size) {
      this.#start("", 2 * size);
      this.#ascii('"0x');
      const range = { data: bytes, from, until: from + size };
      this.#length = putHexOfRange(this.#view, this.#length, range);
      this.#bytes[this.#length++] = QUOTE;
    }
  }

  /** A quantity member: hex without leading zeros. */
  quantity(name: string, value: bigint | number): void {
    const digits = digitsOf(value);
    this.#start(name, countOf(digits));
    this.#ascii('"0x');
    this.#length = putDigits(this.#bytes, this.#length, digits);
    this.#bytes[this.#length++] = QUOTE;
  }

  boolean(name: string, value: boolean): void {
    this.#start(name, 0);
    this.#ascii(value ? "true" : "false");
  }

  null(name: string): void {
    this.#start(name, 0);
    this.#ascii("null");
  }

  /** Writes members that are JSON already, with no comma before or after them. */
  members(json: string): void {
    this.#start("", json.length);
    this.#ascii(json);
  }

  /** The text so far. */
  text(): string {
    return this.#bytes.toString("latin1", 0, this.#length);
  }

  /** Returns a copy of the bytes since the last piece, and continues after it. */
  takePiece(): Uint8Array {
    const piece = Uint8Array.prototype.slice.call(this.#bytes, 0, this.#length);
    this.#before = piece.at(-1) ?? this.#before;
    this.#length = 0;
    return piece;
  }

  clear(): void {
    this.#length = 0;
    this.#before = OPEN_BRACKET;
    if (this.#bytes.length > KEPT_BYTES) this.#use(Buffer.allocUnsafe(INITIAL_BYTES));
  }

  /** Reserves room for a member with that many digits, and writes a comma, unless it is the first, and the name. */
  #start(name: string, digits: number): void {
    this.#reserve(name.length + digits + PUNCTUATION_BYTES);
    const before = this.#length === 0 ? this.#before : this.#bytes[this.#length - 1];
    if (before !== OPEN_BRACE && before !== OPEN_BRACKET) this.#bytes[this.#length++] = COMMA;
    if (name === "") return;
    this.#bytes[this.#length++] = QUOTE;
    this.#ascii(name);
    this.#ascii('":');
  }

  #ascii(text: string): void {
    this.#length = putAscii(this.#bytes, this.#length, text);
  }

  #hex(data: Uint8Array): void {
    this.#length = putHex(this.#bytes, this.#view, this.#length, data);
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#use(larger);
  }

  #use(bytes: Buffer<ArrayBuffer>): void {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }
}

/** Bytes that longData writes without a pause. */
const STEP_BYTES = 64 * 1024;
/** Bytes reserved for punctuation: more than a name and its digits have around them. */
const PUNCTUATION_BYTES = 16;
const INITIAL_BYTES = 16 * 1024;
/** A writer keeps no larger buffer than this between two texts. */
const KEPT_BYTES = 4 * 1024 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const shared = new JsonWriter();
let isBusy = false;
