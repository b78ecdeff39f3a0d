import { type Address, asAddress } from "../primitives/address.ts";
import { asHash, type Hash } from "../primitives/hash.ts";
import { parseHex } from "../primitives/hex.ts";
import { parseJavaNumber } from "../primitives/javaLong.ts";
import { bigintToFixedBytes } from "../primitives/quantity.ts";
import { type Json, type JsonMember, placeOf } from "./json.ts";

/** An error in a genesis file, with its position. Thrown while reading; readGenesis turns it into a Result. */
export class GenesisError extends Error {
  readonly place: string | undefined;

  constructor(message: string, place?: string) {
    super(message);
    this.place = place;
  }
}

interface NumberForm {
  readonly min?: bigint;
  readonly max?: bigint;
  /** Base of digits without 0x: decimal by default. Besu reads some as hexadecimal, and some as Java's Long.decode does. */
  readonly bareDigits?: "decimal" | "hexadecimal" | "java";
  /** A text without digits (0x, or nothing where digits are hexadecimal) is zero: Besu reads it as bytes. */
  readonly mayBeEmpty?: boolean;
  /** A number of JSON may have a fraction, which is cut off, or an exponent: Besu reads it as a double. */
  readonly mayBeDouble?: boolean;
}

/**
 * An object of a genesis file. Keys match in any case; the later of two equal ones wins, as in Besu; unknown keys are
 * ignored. Every error has the key's path, the value, and the position in the file.
 */
export class GenesisSection {
  readonly #text: string;
  readonly #path: string;
  readonly #json: Json;
  readonly #members = new Map<string, JsonMember>();

  constructor(text: string, json: Json, path = "") {
    this.#text = text;
    this.#path = path;
    this.#json = json;
    if (json.kind !== "object") {
      throw new GenesisError(
        `${path === "" ? "the document" : path} must be an object but was ${describe(json)}`,
        this.#place(json),
      );
    }
    for (const member of json.members) {
      const key = member.key.toLowerCase();
      this.#members.set(key, member);
    }
  }

  has(key: string): boolean {
    return this.#members.has(key.toLowerCase());
  }

  /** Whether the key is there with a value other than null. */
  isSet(key: string): boolean {
    return this.#member(key) !== undefined;
  }

  /** Keys that occur more than once, whatever their case, as written in the last place. */
  repeatedKeys(): readonly string[] {
    const json = this.#json;
    if (json.kind !== "object") return [];
    const last = [...this.#members.values()];
    return json.members
      .filter((member) => !last.includes(member))
      .map(({ key }) => this.#members.get(key.toLowerCase())?.key ?? key);
  }

  /** Keys as written in the file, in its order. */
  keys(): readonly string[] {
    return [...this.#members.values()].map(({ key }) => key);
  }

  /** One section for each member, in the order of the file, for objects whose keys may occur twice. */
  perMember(): readonly GenesisSection[] {
    const json = this.#json;
    if (json.kind !== "object") return [];
    return json.members.map(
      (member) => new GenesisSection(this.#text, { ...json, members: [member] }, this.#path),
    );
  }

  section(key: string): GenesisSection | undefined {
    const member = this.#member(key);
    return member && new GenesisSection(this.#text, member.value, this.pathOf(key));
  }

  sections(key: string): readonly GenesisSection[] {
    const member = this.#member(key);
    if (member === undefined) return [];
    if (member.value.kind !== "array") throw this.#mustBe(key, "a list", member.value);
    return member.value.items.map(
      (item, index) => new GenesisSection(this.#text, item, `${this.pathOf(key)}[${index}]`),
    );
  }

  texts(key: string): readonly string[] | undefined {
    const member = this.#member(key);
    if (member === undefined) return undefined;
    if (member.value.kind !== "array") throw this.#mustBe(key, "a list of strings", member.value);
    return member.value.items.map((item) => {
      if (item.kind !== "string") throw this.#mustBe(key, "a list of strings", item);
      return item.text;
    });
  }

  string(key: string): string | undefined {
    const member = this.#member(key);
    if (member === undefined) return undefined;
    if (member.value.kind !== "string") throw this.#mustBe(key, "a string", member.value);
    return member.value.text;
  }

  flag(key: string): boolean | undefined {
    const member = this.#member(key);
    if (member === undefined) return undefined;
    if (member.value.kind !== "boolean") throw this.#mustBe(key, "true or false", member.value);
    return member.value.value;
  }

  /** A JSON number, or a string of decimal or 0x digits; exact at any size, unless it is read as a double. */
  wholeNumber(key: string, form: NumberForm = {}): bigint | undefined {
    const member = this.#member(key);
    if (member === undefined) return undefined;
    const { min = 0n, max } = form;
    const value = readWholeNumber(member.value, form);
    if (value === undefined) throw this.#mustBe(key, "a number", member.value);
    if (value < min) throw this.#mustBe(key, `a number of at least ${min}`, member.value);
    if (max !== undefined && value > max) throw this.#mustBe(key, `a number of at most ${max}`, member.value);
    return value;
  }

  bytes(key: string): Uint8Array | undefined {
    const text = this.string(key);
    if (text === undefined) return undefined;
    const bytes = parseHex(text);
    if (bytes === undefined)
      throw this.error(
        key,
        `Invalid ${this.pathOf(key)} in genesis block configuration: '${shorten(text)}' is not hexadecimal bytes`,
      );
    return bytes;
  }

  /** Like `bytes`, but pads an odd number of digits with a leading zero. */
  lenientBytes(key: string): Uint8Array | undefined {
    const digits = this.string(key)?.replace(/^0x/i, "");
    if (digits === undefined || digits.length % 2 === 0) return this.bytes(key);
    return parseHex(`0x0${digits}`) ?? this.bytes(key);
  }

  hash(key: string): Hash | undefined {
    const text = this.string(key);
    return text === undefined ? undefined : asHash(this.#paddedBytes(key, text, 32));
  }

  address(key: string): Address | undefined {
    const text = this.string(key);
    return text === undefined ? undefined : asAddress(this.#paddedBytes(key, text, 20));
  }

  /** A key of this object as an address, as in `alloc`. */
  addressOfKey(key: string): Address {
    return asAddress(this.#paddedBytes(key, key, 20));
  }

  /** A key of this object as a storage slot. */
  slotOfKey(key: string): Hash {
    return asHash(this.#paddedBytes(key, key, 32));
  }

  /** An error about a key, with the caller's message. */
  error(key: string, message: string): GenesisError {
    const member = this.#members.get(key.toLowerCase());
    return new GenesisError(message, this.#place(member?.value ?? this.#json));
  }

  /** The key's path for messages, such as config.ibft2.epochLength. */
  pathOf(key: string): string {
    return this.#path === "" ? key : `${this.#path}.${key}`;
  }

  /** The key's value as written in the file, for messages. */
  valueText(key: string): string {
    const member = this.#members.get(key.toLowerCase());
    return member === undefined ? "nothing" : describe(member.value);
  }

  #member(key: string): JsonMember | undefined {
    const member = this.#members.get(key.toLowerCase());
    return member?.value.kind === "null" ? undefined : member;
  }

  /** Hexadecimal digits with or without 0x, padded with zeros on the left as in Besu. */
  #paddedBytes(key: string, text: string, length: number): Uint8Array {
    const digits = text.replace(/^0x/i, "");
    if (!/^[0-9a-f]*$/i.test(digits) || digits.length > 2 * length) {
      throw this.error(
        key,
        `Invalid ${this.pathOf(key)} in genesis block configuration: '${shorten(text)}' is not ${length} bytes of hexadecimal digits`,
      );
    }
    return bigintToFixedBytes(digits === "" ? 0n : BigInt(`0x${digits}`), length);
  }

  #mustBe(key: string, what: string, value: Json): GenesisError {
    return new GenesisError(
      `Invalid genesis block configuration, ${this.pathOf(key)} must be ${what} but was ${describe(value)}`,
      this.#place(value),
    );
  }

  #place(json: Json): string {
    return placeOf(this.#text, json.at);
  }
}

function readWholeNumber(json: Json, form: NumberForm): bigint | undefined {
  switch (json.kind) {
    case "number":
      return readJsonNumber(json.text, form);
    case "string":
      return readDigits(json.text, form);
    default:
      return undefined;
  }
}

function readJsonNumber(text: string, { bareDigits, mayBeDouble }: NumberForm): bigint | undefined {
  // Besu takes the text of a number where it expects hexadecimal digits.
  if (bareDigits === "hexadecimal") return /^\d+$/.test(text) ? BigInt(`0x${text}`) : undefined;
  if (/^-?\d+$/.test(text)) return BigInt(text);
  const double = Number(text);
  return mayBeDouble === true && Number.isFinite(double) ? BigInt(Math.trunc(double)) : undefined;
}

function readDigits(untrimmed: string, { bareDigits, mayBeEmpty }: NumberForm): bigint | undefined {
  const text = untrimmed.trim();
  if (bareDigits === "java") return parseJavaNumber(text);
  if (mayBeEmpty === true && (/^0x$/i.test(text) || (text === "" && bareDigits === "hexadecimal"))) return 0n;
  if (/^0x[0-9a-f]+$/i.test(text)) return BigInt(text);
  if (bareDigits === "hexadecimal") return /^[0-9a-f]+$/i.test(text) ? BigInt(`0x${text}`) : undefined;
  return /^-?\d+$/.test(text) ? BigInt(text) : undefined;
}

function describe(json: Json): string {
  switch (json.kind) {
    case "object":
      return "an object";
    case "array":
      return "a list";
    case "string":
    case "number":
      return `'${shorten(json.text)}'`;
    case "boolean":
      return `'${json.value}'`;
    case "null":
      return "null";
  }
}

const MAX_SHOWN = 80;

function shorten(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
