import { assert } from "./assert.ts";
import { EventLoopSlice } from "./eventLoopSlice.ts";

/**
 * The JSON text that `write` writes. All answers share one writer, so this is done in one go: without waiting, and
 * not inside another.
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
 * As jsonText for what takes long: `write` pauses where it may be interrupted, and others have their turn in between. The
 * pieces follow one another.
 */
export async function jsonInSlices(
  write: (writer: JsonWriter) => Iterable<void>,
): Promise<readonly Uint8Array[]> {
  const writer = new JsonWriter();
  const pieces: Uint8Array[] = [];
  const turn = new EventLoopSlice();
  for (const _ of write(writer)) {
    if (writer.length >= PIECE_BYTES) pieces.push(writer.takePiece());
    if (turn.isOver) await turn.yield();
  }
  pieces.push(writer.takePiece());
  return pieces;
}

/** Writes without a pause what could be interrupted. */
export function writeAtOnce(pauses: Iterable<void>): void {
  for (const _ of pauses);
}

const PIECE_BYTES = 256 * 1024;

/**
 * Writes JSON straight into bytes. A block of thousands of transactions costs a third of what joining strings does,
 * most of which is garbage. Only for what has no need of escaping: hex, numbers, and names that are written here.
 */
export class JsonWriter {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES);
  #view = viewOf(this.#bytes);
  #length = 0;
  /** What stands before the first byte here. */
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

  /** A member that is data: all its bytes as hex. */
  data(name: string, bytes: Uint8Array): void {
    this.#start(name, 2 * bytes.length);
    this.#ascii('"0x');
    this.#hex(bytes);
    this.#bytes[this.#length++] = QUOTE;
  }

  /** An item of a list that is data. */
  dataItem(bytes: Uint8Array): void {
    this.data("", bytes);
  }

  /** A member that is a quantity: hex without leading zeros. */
  quantity(name: string, value: bigint | number): void {
    // Digits of a bigint take longer.
    const digits = (value <= Number.MAX_SAFE_INTEGER ? Number(value) : value).toString(16);
    this.#start(name, digits.length);
    this.#ascii('"0x');
    this.#ascii(digits);
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

  /** Members that are written already, without a comma around them. */
  members(json: string): void {
    this.#start("", json.length);
    this.#ascii(json);
  }

  /** What has been written so far. */
  text(): string {
    return this.#bytes.toString("latin1", 0, this.#length);
  }

  /** A copy of what has been written since the last piece, which this goes on. */
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

  /** Makes room for a member of that many digits; then a comma, unless it is the first inside its brackets, and the name. */
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
    const bytes = this.#bytes;
    const start = this.#length;
    for (let index = 0; index < text.length; index++) bytes[start + index] = text.charCodeAt(index);
    this.#length = start + text.length;
  }

  #hex(data: Uint8Array): void {
    const view = this.#view;
    const even = data.length & ~1;
    let at = this.#length;
    for (let index = 0; index < even; index += 2, at += 4)
      view.setUint32(at, (pairAt(data, index) << 16) | pairAt(data, index + 1));
    if (even < data.length) {
      view.setUint16(at, pairAt(data, even));
      at += 2;
    }
    this.#length = at;
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

/** More than what stands around a name and its digits. */
const PUNCTUATION_BYTES = 16;
const INITIAL_BYTES = 16 * 1024;
/** A writer does not hold on to more than this between two answers. */
const KEPT_BYTES = 4 * 1024 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The two hex digits of each byte, as two ASCII codes. */
const HEX_PAIRS = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, "0");
  return (digits.charCodeAt(0) << 8) | digits.charCodeAt(1);
});

function pairAt(data: Uint8Array, index: number): number {
  return HEX_PAIRS[data[index] as number] as number;
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

const shared = new JsonWriter();
let isBusy = false;
