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

/** Collects a JSON text of ASCII characters, which may become long. */
export class TraceText {
  private readonly budget: TraceBudget;
  private readonly pieces: Buffer[] = [];
  private open = "";

  constructor(budget: TraceBudget) {
    this.budget = budget;
  }

  add(text: string): void {
    this.budget.spend(text.length);
    this.open += text;
    if (this.open.length >= PIECE_LENGTH) this.close();
  }

  /** A place where something is to be written later. */
  mark(): number {
    this.close();
    return this.pieces.push(Buffer.alloc(0)) - 1;
  }

  /** Writes at a mark, once. */
  insert(mark: number, text: string): void {
    this.budget.spend(text.length);
    this.pieces[mark] = Buffer.from(text, "latin1");
  }

  /** All of it, in memory of its own. */
  bytes(): Uint8Array<ArrayBuffer> {
    this.close();
    const whole = new Uint8Array(this.pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of this.pieces.splice(0)) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  private close(): void {
    if (this.open !== "") this.pieces.push(Buffer.from(this.open, "latin1"));
    this.open = "";
  }
}

const PIECE_LENGTH = 64 * 1024;

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
