import { type Address, asAddress } from "../../primitives/address.ts";
import { asHash, type Hash } from "../../primitives/hash.ts";
import { parseDigits, parseHex } from "../../primitives/hex.ts";
import { MAX_JAVA_LONG, parseJavaLong } from "../../primitives/javaLong.ts";

/**
 * A decoder for a value of a `params` array, exactly as lenient as Besu (json-rpc.md#parameters). It takes a value from
 * JSON.parse and returns undefined when the answer is -32602 Invalid params.
 */
export type Decoder<T> = (value: unknown) => T | undefined;

/** Up to 20 bytes in any case, 0x optional, padded on the left. A checksum is not checked. */
export function decodeAddress(value: unknown): Address | undefined {
  const bytes = paddedBytes(value, 20);
  return bytes && asAddress(bytes);
}

/** All 20 bytes: a shorter text, which is filled up elsewhere, would name an account that nobody has the key of. */
export function decodeWholeAddress(value: unknown): Address | undefined {
  return typeof value === "string" && /^(0x)?[0-9a-f]{40}$/i.test(value) ? decodeAddress(value) : undefined;
}

/** Exactly 32 bytes, 0x optional. */
export function decodeHash(value: unknown): Hash | undefined {
  if (typeof value !== "string" || withoutPrefix(value).length !== 64) return undefined;
  const bytes = paddedBytes(value, 32);
  return bytes && asHash(bytes);
}

/** A JSON boolean, its name as a string, or an integer of which only zero is false. */
export function decodeBoolean(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isInteger(value) ? value !== 0 : undefined;
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (["true", "True", "TRUE"].includes(text)) return true;
  return ["false", "False", "FALSE"].includes(text) ? false : undefined;
}

/** A position or count of at most 31 bits: a JSON integer, or text as decodeJavaLong reads it. */
export function decodeIndex(value: unknown): number | undefined {
  const index = typeof value === "number" ? value : Number(decodeJavaLong(value) ?? Number.NaN);
  return Number.isInteger(index) && index >= 0 && index <= MAX_INDEX ? index : undefined;
}

const MAX_INDEX = 2 ** 31 - 1;

/** A storage position: at most 32 bytes of hex, so that "3" is 3 and "10" is sixteen; padded to 32. */
export function decodeStoragePosition(value: unknown): Hash | undefined {
  const bytes = paddedBytes(value, 32);
  return bytes && asHash(bytes);
}

/** Wei in a call object: hex text of at most 32 bytes (0x optional, so "10" is sixteen), or a JSON integer. */
export function decodeWei(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isInteger(value) && value >= 0 ? BigInt(value) : undefined;
  return hexNumber(value, 32);
}

/** Gas in a call object: at most 8 bytes of hex, clamped to 2^63 - 1. The digits of a JSON integer are read as hex, too. */
export function decodeGas(value: unknown): bigint | undefined {
  const gas = hexNumber(typeof value === "number" ? String(value) : value, 8);
  return gas !== undefined && gas > MAX_JAVA_LONG ? MAX_JAVA_LONG : gas;
}

/** Bytes of hex text with an even number of digits, 0x optional. */
export function decodeData(value: unknown): Uint8Array | undefined {
  return typeof value === "string" ? parseHex(value) : undefined;
}

/** A topic to look for: hex text of any length; only 32 bytes can match anything. */
export function decodeTopic(value: unknown): Uint8Array | undefined {
  if (typeof value !== "string") return undefined;
  const digits = withoutPrefix(value);
  return parseHex(digits.length % 2 === 0 ? digits : `0${digits}`);
}

/** Percentiles and the like: JSON numbers, or the same as text. */
export function decodeNumber(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** A string, as it is. */
export function decodeString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A string, or the text of a number or boolean, as Besu reads a string. */
export function decodeText(value: unknown): string | undefined {
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : undefined;
}

/** A list whose items all decode. */
export function decodeList<T>(decodeItem: Decoder<T>): Decoder<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    const items: T[] = [];
    for (const each of value as unknown[]) {
      const item = decodeItem(each);
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items;
  };
}

/** A long as Java's Long.decode reads it from text: decimal, hexadecimal after 0x or #, octal after 0; an optional sign; 64 bits. */
export function decodeJavaLong(value: unknown): bigint | undefined {
  return typeof value === "string" ? parseJavaLong(value) : undefined;
}

/** True for an absent or null member or parameter, which both mean "not given". */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** A JSON object that is neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const HEX_DIGITS = /^[0-9a-fA-F]*$/;

function withoutPrefix(text: string): string {
  return text.startsWith("0x") ? text.slice(2) : text;
}

function paddedBytes(value: unknown, length: number): Uint8Array | undefined {
  if (typeof value !== "string") return undefined;
  const start = value.startsWith("0x") ? 2 : 0;
  const missing = length * 2 - (value.length - start);
  if (missing === 0) return parseDigits(value, start, length);
  return missing < 0 ? undefined : parseDigits(value.slice(start).padStart(length * 2, "0"), 0, length);
}

function hexNumber(value: unknown, maxBytes: number): bigint | undefined {
  if (typeof value !== "string") return undefined;
  const digits = withoutPrefix(value);
  if (digits.length > maxBytes * 2 || !HEX_DIGITS.test(digits)) return undefined;
  return digits === "" ? 0n : BigInt(`0x${digits}`);
}
