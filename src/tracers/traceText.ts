import { ChunkedText } from "./chunkedText.ts";

/**
 * Bounds the memory of a trace; counts its text and everything held to write it.
 *
 * The worker thread writes traces as JSON directly: a list of steps would take more memory than its text, and only bytes
 * move from thread to thread without a copy.
 */
export class TraceBudget {
  private leftBytes: number;

  constructor(bytes: number) {
    this.leftBytes = bytes;
  }

  /** Bytes that may still be spent. */
  get remainingBytes(): number {
    return this.leftBytes;
  }

  /** Gives back what was spent for something that is no longer held. */
  release(bytes: number): void {
    this.leftBytes += bytes;
  }

  /** Throws TraceTooLargeError when the budget is exhausted. */
  spend(bytes: number): void {
    this.leftBytes -= bytes;
    if (this.leftBytes < 0) throw new TraceTooLargeError("the trace is larger than answers may be");
  }
}

export class TraceTooLargeError extends Error {
  override name = "TraceTooLargeError";
}

/** Collects the JSON text of an answer. */
export class TraceText {
  private readonly budget: TraceBudget;
  private readonly text = new ChunkedText();

  constructor(budget: TraceBudget) {
    this.budget = budget;
  }

  add(text: string): void {
    this.budget.spend(text.length);
    this.text.add(text);
  }

  /** Adds a text that was already charged to the budget. */
  take(text: ChunkedText): void {
    this.text.take(text);
  }

  /** Marks a position for `insert`. */
  mark(): number {
    return this.text.mark();
  }

  /** Writes at a mark, once. */
  insert(mark: number, text: string): void {
    this.budget.spend(text.length);
    this.text.insert(mark, text);
  }

  /** Takes the whole text, in pieces that each have a buffer of their own. */
  takePieces(): readonly Uint8Array<ArrayBuffer>[] {
    return this.text.takePieces();
  }
}

/** Bytes as hex without leading zeros: `0x8c379a0` for a revert, `0x` for no bytes, `0x0` for zeros. */
export function shortHex(bytes: Uint8Array): string {
  if (bytes.length === 0) return "0x";
  const digits = hexDigits(bytes).replace(/^0+/, "");
  return `0x${digits === "" ? "0" : digits}`;
}

/** Hex digits without a prefix. */
export function hexDigits(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
}

/** A word as 64 digits without a prefix. */
export function wordDigits(word: bigint): string {
  return word.toString(16).padStart(64, "0");
}

/** JSON of an object from the JSON of its members; `false` stands for an omitted one. */
export function objectOf(members: readonly (string | false)[]): string {
  return `{${members.filter((member) => member !== false).join(",")}}`;
}

export type Member = readonly [name: string, json: string];

/** JSON of an object with its members sorted by name. */
export function sortedObjectOf(members: readonly Member[]): string {
  const sorted = [...members].sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, json]) => `"${name}":${json}`).join(",")}}`;
}

/** JSON of a string with all non-ASCII characters escaped. */
export function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
