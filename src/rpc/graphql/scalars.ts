import { Kind, type ValueNode } from "graphql";
import { parseHex } from "../../primitives/hex.ts";
import { bytesToBigint } from "../../primitives/quantity.ts";
import { javaSimpleName, literalText, valueText } from "./javaText.ts";
import type { NamedType } from "./schema.ts";

/*
 * What the schema's scalars mean as input: in a query ("literal") and among the variables ("value"). Addresses and bytes become
 * bytes, numbers bigint. A value that is none gives the text of the error.
 */

export type ScalarName = "Address" | "BigInt" | "Boolean" | "Bytes" | "Bytes32" | "Long" | "String";

/** A value that is no value of its type; the message is graphql-java's or Besu's. */
export class NoValue {
  readonly message: string;
  /** Whether the message stands alone, without the name of its variable and its place. */
  readonly isBare: boolean;

  constructor(message: string, isBare = false) {
    this.message = message;
    this.isBare = isBare;
  }
}

/** The value of a literal. */
export function readLiteral({ name, kind, values }: NamedType, node: ValueNode): unknown {
  if (kind === "ENUM") return enumValue(values, node.kind === Kind.ENUM ? node.value : undefined);
  const value = SCALARS[name as ScalarName].literal(node);
  return value === undefined ? new NoValue(SCALARS[name as ScalarName].noLiteral(node)) : value;
}

/** The value of a variable, as JSON has it. */
export function readValue({ name, kind, values }: NamedType, given: unknown): unknown {
  if (kind === "ENUM") return enumValue(values, given);
  const value = SCALARS[name as ScalarName].value(given);
  return value === undefined ? new NoValue(SCALARS[name as ScalarName].noValue(given)) : value;
}

/** No field takes an enumeration, but a variable may be declared with one. */
function enumValue(values: NamedType["values"], given: unknown): unknown {
  const known = values.some(({ name }) => name === given);
  return known ? given : new NoValue("Value is none of the enumeration");
}

interface Scalar {
  /** The value; undefined when the node is none, which `noLiteral` then says. A NoValue says it itself. */
  literal(node: ValueNode): unknown;
  noLiteral(node: ValueNode): string;
  value(given: unknown): unknown;
  noValue(given: unknown): string;
}

/** A scalar that reads strings alike in a query and among the variables. */
function ofText(name: ScalarName, read: (text: string) => unknown, ofInteger?: (digits: string) => unknown) {
  return {
    literal(node: ValueNode) {
      if (node.kind === Kind.STRING) return read(node.value);
      return node.kind === Kind.INT ? ofInteger?.(node.value) : undefined;
    },
    noLiteral: (node: ValueNode) => `Value is not any ${name} : '${literalText(node)}'`,
    value: (given: unknown) => (typeof given === "string" ? read(given) : undefined),
    noValue: (given: unknown) => `Unable to parse variable value ${valueText(given)} as an ${name}`,
  };
}

/** Numbers in text are always hexadecimal, with and without a prefix: so Besu reads them. */
const BIG_INT = ofText("BigInt", readHexadecimal, (digits) => {
  // A literal has no zeros before its digits, and may have a million of these.
  if (digits.length > MAX_UINT256_DIGITS) return undefined;
  const value = BigInt(digits);
  return value >= 0n && value <= MAX_UINT256 ? value : undefined;
});

function readHexadecimal(text: string): bigint | undefined {
  const bytes = parseLenientHex(text.startsWith("0x") ? text.slice(2) : text);
  return bytes === undefined || bytes.length > WORD_BYTES ? undefined : bytesToBigint(bytes);
}

const LONG: Scalar = {
  ...ofText("Long", readLong, lowBits),
  value(given) {
    if (typeof given === "string") return readLong(given);
    if (typeof given === "bigint") return inLongRange(given);
    return typeof given === "number" && Number.isInteger(given) ? inLongRange(BigInt(given)) : undefined;
  },
};

/** The lowest 64 bits of a decimal number, which its last 64 digits decide: 2^64 divides 10^64. */
function lowBits(digits: string): bigint {
  const last = BigInt(digits.replace(/^-/, "").slice(-64));
  return BigInt.asIntN(64, digits.startsWith("-") ? -last : last);
}

/** Decimal, or hexadecimal with its prefix, in which 64 bits are taken for a signed number. */
function readLong(given: string): bigint | undefined {
  const text = given.toLowerCase();
  if (text.startsWith("0x")) {
    const bytes = parseLenientHex(text.slice(2));
    return bytes === undefined || bytes.length > LONG_BYTES
      ? undefined
      : BigInt.asIntN(64, bytesToBigint(bytes));
  }
  return DECIMAL.test(text) ? inLongRange(BigInt(text.replace(/^\+/, ""))) : undefined;
}

function inLongRange(value: bigint): bigint | undefined {
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

const BOOLEAN: Scalar = {
  literal: (node) => (node.kind === Kind.BOOLEAN ? node.value : undefined),
  noLiteral: (node) => `Expected an AST type of 'BooleanValue' but it was a '${javaName(node)}'`,
  value: (given) => (typeof given === "boolean" ? given : undefined),
  noValue: (given) =>
    `Expected a value that can be converted to type 'Boolean' but it was a '${javaSimpleName(given)}'`,
};

const STRING: Scalar = {
  literal: (node) => (node.kind === Kind.STRING ? node.value : undefined),
  noLiteral: (node) => `Expected an AST type of 'StringValue' but it was a '${javaName(node)}'`,
  value: (given) => (given === null || typeof given === "object" ? undefined : String(given)),
  noValue: (given) =>
    `Expected a value that can be converted to type 'String' but it was a '${javaSimpleName(given)}'`,
};

const SCALARS: Readonly<Record<ScalarName, Scalar>> = {
  Address: ofText("Address", (text) => {
    const digits = text.startsWith("0x") ? text.slice(2) : text;
    return digits.length === 2 * ADDRESS_BYTES ? parseLenientHex(digits) : undefined;
  }),
  BigInt: BIG_INT,
  Boolean: BOOLEAN,
  Bytes: ofText("Bytes", (text) => prefixed("Bytes", text) ?? parseLenientHex(text.slice(2))),
  Bytes32: ofText("Bytes32", (text) => prefixed("Bytes32", text) ?? readWord(text.slice(2))),
  Long: LONG,
  String: STRING,
};

function prefixed(name: ScalarName, text: string): NoValue | undefined {
  return text.startsWith("0x")
    ? undefined
    : new NoValue(`${name} value '${valueText(text)}' is not prefixed with 0x`, true);
}

function readWord(digits: string): Uint8Array | undefined {
  return digits.length > 2 * WORD_BYTES ? undefined : parseHex(`0x${digits.padStart(2 * WORD_BYTES, "0")}`);
}

/** Bytes of any number of digits: an odd number has a zero before it. */
function parseLenientHex(digits: string): Uint8Array | undefined {
  return parseHex(digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`);
}

const DECIMAL = /^[+-]?\d{1,30}$/;
const LONG_BYTES = 8;
const WORD_BYTES = 32;
const ADDRESS_BYTES = 20;
const MAX_UINT256 = (1n << 256n) - 1n;
const MAX_UINT256_DIGITS = 78;

/** graphql-java's name of a kind of literal. */
function javaName({ kind }: ValueNode): string {
  return kind === Kind.LIST ? "ArrayValue" : kind;
}
