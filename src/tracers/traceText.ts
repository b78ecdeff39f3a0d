import { ChunkedText } from "./chunkedText.ts";

/**
 * Traces are written as JSON where they are made: a list of steps would take more room than their text, and only text
 * is handed from thread to thread without being copied.
 *
 * What a trace may take in memory is bounded by a budget, which counts text and what is kept for later.
 */
export class TraceBudget {
  private leftBytes: number;

  constructor(bytes: number) {
    this.leftBytes = bytes;
  }

  /** Throws TraceTooLarge when there is no more room. */
  spend(bytes: number): void {
    this.leftBytes -= bytes;
    if (this.leftBytes < 0) throw new TraceTooLarge("the trace is larger than answers may be");
  }
}

export class TraceTooLarge extends Error {
  override name = "TraceTooLarge";
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

  /** Adds what the budget has been charged for already. */
  take(text: ChunkedText): void {
    this.text.take(text);
  }

  /** A place where something is to be written later. */
  mark(): number {
    return this.text.mark();
  }

  /** Writes at a mark, once. */
  insert(mark: number, text: string): void {
    this.budget.spend(text.length);
    this.text.insert(mark, text);
  }

  /** All of it, in memory of its own. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.text.takeBytes();
  }
}

/** Hexadecimal digits without leading zeros, of bytes: `0x8c379a0` for a revert, `0x` for nothing, `0x0` for zeros. */
export function shortHex(bytes: Uint8Array): string {
  if (bytes.length === 0) return "0x";
  const digits = hexDigits(bytes).replace(/^0+/, "");
  return `0x${digits === "" ? "0" : digits}`;
}

/** Without a prefix. */
export function hexDigits(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
}

/** A word as 64 digits without a prefix. */
export function wordDigits(word: bigint): string {
  return word.toString(16).padStart(64, "0");
}

/** JSON of an object whose members are written already; `false` stands for one that is left out. */
export function objectOf(members: readonly (string | false)[]): string {
  return `{${members.filter((member) => member !== false).join(",")}}`;
}

export type Member = readonly [name: string, json: string];

/** JSON of an object with its members in the order of their names. */
export function sortedObjectOf(members: readonly Member[]): string {
  const sorted = [...members].sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, json]) => `"${name}":${json}`).join(",")}}`;
}

/** JSON of a text from outside, in ASCII. */
export function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
