import { viewAsBuffer } from "./hex.ts";

/*
 * Text of ASCII characters alone, written directly into bytes that have room for it: a large answer takes a third of the time that
 * joining strings takes, and creates little garbage.
 */

/** Writes a text; returns the place after it. */
export function putAscii(into: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) into[at + index] = text.charCodeAt(index);
  return at + text.length;
}

/** Writes bytes as lower-case hex without prefix; returns the place after it. The view is of the bytes that are written into. */
export function putHex(into: Buffer, view: DataView, at: number, data: Uint8Array): number {
  if (data.length < NATIVE_BYTES) return putHexOfRange(view, at, { data, from: 0, until: data.length });
  return at + into.write(viewAsBuffer(data).toString("hex"), at, "latin1");
}

/** Number of bytes from which on the platform's own conversion is faster. */
const NATIVE_BYTES = 512;

/** Like putHex, for some of the bytes. */
export function putHexOfRange(
  view: DataView,
  start: number,
  { data, from, until }: { readonly data: Uint8Array; readonly from: number; readonly until: number },
): number {
  let at = start;
  let index = from;
  for (; index + 1 < until; index += 2, at += 4)
    view.setUint32(at, (pairAt(data, index) << 16) | pairAt(data, index + 1));
  if (index === until) return at;
  view.setUint16(at, pairAt(data, index));
  return at + 2;
}

/** The two hex digits of each byte, as two ASCII codes. */
const HEX_PAIRS = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, "0");
  return (digits.charCodeAt(0) << 8) | digits.charCodeAt(1);
});

function pairAt(data: Uint8Array, index: number): number {
  return HEX_PAIRS[data[index] as number] as number;
}

/**
 * The hexadecimal digits of a number without leading zeros; the number itself where it has at most `WORD_DIGITS`, for `putDigits`: to
 * convert a bigint takes longest, and a text that is only copied longer than its digits.
 */
export function digitsOf(value: bigint | number): string | number {
  const number = Number(value);
  if (number >= 0 && number <= WORD_MAX) return number;
  return (Number.isSafeInteger(number) ? number : value).toString(16);
}

/** Writes what `digitsOf` gives; returns the place after it. */
export function putDigits(into: Uint8Array, start: number, digits: string | number): number {
  if (typeof digits === "string") return putAscii(into, start, digits);
  let at = start;
  for (let shift = digits === 0 ? 0 : (31 - Math.clz32(digits)) & ~3; shift >= 0; shift -= 4)
    into[at++] = DIGITS[(digits >>> shift) & 15] as number;
  return at;
}

/** How many digits there can be. */
export function countOf(digits: string | number): number {
  return typeof digits === "string" ? digits.length : WORD_DIGITS;
}

const WORD_MAX = 2 ** 32 - 1;
const WORD_DIGITS = 8;
const DIGITS = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/** Writes the big-endian bytes of a number as hex without leading zeros or prefix; returns the place after it. */
export function putScalar(into: Buffer, view: DataView, start: number, bytes: Uint8Array): number {
  const from = bytes.findIndex((byte) => byte !== 0);
  const first = bytes[from];
  if (first === undefined) return putDigits(into, start, 0);
  const at = putDigits(into, start, first);
  return putHexOfRange(view, at, { data: bytes, from: from + 1, until: bytes.length });
}

export function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}
