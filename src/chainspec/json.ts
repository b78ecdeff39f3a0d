import { fail, ok, type Result } from "../primitives/result.ts";

/**
 * JSON of genesis files and static nodes, with the offset of every value, so that errors can point to it. Line and block
 * comments are allowed; numbers stay text, because chain ids and gas limits may exceed 2^53.
 */
export type Json =
  | { readonly kind: "object"; readonly at: number; readonly members: readonly JsonMember[] }
  | { readonly kind: "array"; readonly at: number; readonly items: readonly Json[] }
  | { readonly kind: "string"; readonly at: number; readonly text: string }
  | { readonly kind: "number"; readonly at: number; readonly text: string }
  | { readonly kind: "boolean"; readonly at: number; readonly value: boolean }
  | { readonly kind: "null"; readonly at: number };

export interface JsonMember {
  readonly key: string;
  /** Offset of the key in the text. */
  readonly at: number;
  readonly value: Json;
}

/** The error message ends in line and column. */
export function parseJson(text: string): Result<Json, "malformedJson"> {
  return parsing(text, (reader) => reader.readDocument());
}

function parsing<T>(text: string, read: (reader: JsonReader) => T): Result<T, "malformedJson"> {
  try {
    return ok(read(new JsonReader(text)));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const message = `${error.message} at ${placeOf(text, error.at)}`;
    return fail("caller", "malformedJson", message);
  }
}

/**
 * The text of a file of JSON, which is UTF-8, or UTF-16 as PowerShell writes it: Besu's reader tells them apart by the byte order
 * mark, or by the zero in the first character.
 */
export function jsonTextOf(bytes: Buffer): string {
  const [first = 1, second = 1] = bytes;
  if (second === 0 || (first === 0xff && second === 0xfe)) return bytes.toString("utf16le");
  if (first !== 0 && !(first === 0xfe && second === 0xff)) return bytes.toString("utf8");
  return Buffer.from(bytes.subarray(0, bytes.length & ~1))
    .swap16()
    .toString("utf16le");
}

/** What comes after the end of a document, by its first character. */
export interface JsonRest {
  readonly place: string;
  readonly character: string;
}

/** Like parseJson, but reads no further than to the end of the document, as Besu reads a genesis file. */
export function parseLeadingJson(
  text: string,
): Result<{ readonly value: Json; readonly rest: JsonRest | undefined }, "malformedJson"> {
  return parsing(text, (reader) => reader.readLeading());
}

/** "line 3, column 14" for an offset; both count from 1. */
export function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** The limit is deep enough for any genesis file, and shallow enough for the stack. */
const MAX_DEPTH = 64;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const BLANKS = " \t\r\n\ufeff";

class JsonSyntaxError extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

class JsonReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readDocument(): Json {
    this.#skipBlank();
    const value = this.#readValue();
    this.#skipBlank();
    if (this.#at < this.#text.length) this.#fail(`unexpected ${this.#here()} after the end of the document`);
    return value;
  }

  readLeading(): { readonly value: Json; readonly rest: JsonRest | undefined } {
    this.#skipBlank();
    const value = this.#readValue();
    this.#skipBlank();
    const first = this.#text.codePointAt(this.#at);
    if (first === undefined) return { value, rest: undefined };
    return { value, rest: { place: placeOf(this.#text, this.#at), character: String.fromCodePoint(first) } };
  }

  #readValue(): Json {
    const at = this.#at;
    switch (this.#text[at]) {
      case "{":
        return this.#nested(() => ({ kind: "object", at, members: this.#readMembers() }));
      case "[":
        return this.#nested(() => ({ kind: "array", at, items: this.#readItems() }));
      case '"':
        return { kind: "string", at, text: this.#readString() };
    }
    const word = this.#take(WORD);
    if (word !== undefined)
      return word === "null" ? { kind: "null", at } : { kind: "boolean", at, value: word === "true" };
    const number = this.#take(NUMBER);
    if (number !== undefined) return { kind: "number", at, text: number };
    return this.#fail(`a value is expected, not ${this.#here()}`);
  }

  #readMembers(): JsonMember[] {
    const members: JsonMember[] = [];
    this.#readSequence("}", () => {
      const at = this.#at;
      if (this.#text[at] !== '"') this.#fail(`a key in double quotes is expected, not ${this.#here()}`);
      const key = this.#readString();
      this.#skipBlank();
      if (this.#text[this.#at] !== ":")
        this.#fail(`':' is expected after the key "${key}", not ${this.#here()}`);
      this.#at += 1;
      this.#skipBlank();
      members.push({ key, at, value: this.#readValue() });
    });
    return members;
  }

  #readItems(): Json[] {
    const items: Json[] = [];
    this.#readSequence("]", () => items.push(this.#readValue()));
    return items;
  }

  /** Reads from the opening bracket to the closing one. */
  #readSequence(end: "}" | "]", readOne: () => void): void {
    this.#at += 1;
    this.#skipBlank();
    if (this.#text[this.#at] === end) {
      this.#at += 1;
      return;
    }
    for (;;) {
      readOne();
      this.#skipBlank();
      const mark = this.#text[this.#at];
      if (mark !== "," && mark !== end) this.#fail(`',' or '${end}' is expected, not ${this.#here()}`);
      this.#at += 1;
      if (mark === end) return;
      this.#skipBlank();
    }
  }

  /** Searches for the closing quote without a pattern, because code in an alloc can be longer than a pattern can match. */
  #readString(): string {
    const start = this.#at;
    let end = start + 1;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === "\\" ? 2 : 1;
    if (end >= this.#text.length) this.#fail("a string that does not end");
    try {
      const text = JSON.parse(this.#text.slice(start, end + 1)) as string;
      this.#at = end + 1;
      return text;
    } catch {
      return this.#fail("a string with a line break or a wrong escape in it");
    }
  }

  #nested(read: () => Json): Json {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.#fail(`more than ${MAX_DEPTH} levels of nesting`);
    const value = read();
    this.#depth -= 1;
    return value;
  }

  /** Skips spaces and comments; an unterminated block comment is reported at its first character. */
  #skipBlank(): void {
    for (;;) {
      const character = this.#text[this.#at];
      if (character !== undefined && BLANKS.includes(character)) {
        this.#at += 1;
      } else if (this.#text.startsWith("//", this.#at)) {
        const end = this.#text.indexOf("\n", this.#at);
        this.#at = end < 0 ? this.#text.length : end;
      } else {
        const end = this.#text.startsWith("/*", this.#at) ? this.#text.indexOf("*/", this.#at + 2) : -1;
        if (end < 0) return;
        this.#at = end + 2;
      }
    }
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text)?.[0];
    if (match !== undefined) this.#at += match.length;
    return match;
  }

  #here(): string {
    const character = this.#text.codePointAt(this.#at);
    return character === undefined ? "the end of the file" : `'${String.fromCodePoint(character)}'`;
  }

  #fail(message: string): never {
    throw new JsonSyntaxError(message, this.#at);
  }
}
