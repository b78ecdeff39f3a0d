import { EMPTY_BYTES, type Hex, toDigits } from "./hex.ts";

/** Big-endian bytes without leading zeros; zero gives no bytes (RLP's canonical scalar). */
export function bigintToBytes(value: bigint): Uint8Array {
  if (value < 0n) throw new RangeError("a quantity cannot be negative");
  if (value === 0n) return EMPTY_BYTES;
  if (value < SAFE_END) return bytesOfNumber(Number(value));
  const digits = value.toString(16);
  return Uint8Array.from(Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex"));
}

function bytesOfNumber(value: number): Uint8Array {
  let length = 0;
  for (let rest = value; rest >= 1; rest /= 256) length++;
  const bytes = new Uint8Array(length);
  for (let at = length - 1, rest = value; at >= 0; at--, rest = Math.floor(rest / 256))
    bytes[at] = rest % 256;
  return bytes;
}

/** Big-endian bytes of exactly `length` bytes; throws RangeError when the value does not fit. */
export function bigintToFixedBytes(value: bigint, length: number): Uint8Array {
  const bytes = bigintToBytes(value);
  if (bytes.length > length) throw new RangeError(`${value} does not fit in ${length} bytes`);
  if (bytes.length === length) return bytes;
  const padded = new Uint8Array(length);
  padded.set(bytes, length - bytes.length);
  return padded;
}

/** Value of big-endian bytes of any length; no bytes give zero. */
export function bytesToBigint(bytes: Uint8Array): bigint {
  return bigintAt(bytes, 0, bytes.length);
}

/** Value of the big-endian bytes from `from` to before `until`. */
export function bigintAt(bytes: Uint8Array, from: number, until: number): bigint {
  const length = until - from;
  if (length <= SAFE_BYTES) return BigInt(numberAt(bytes, from, until));
  if (length > 2 * SAFE_BYTES) return BigInt(`0x${toDigits(bytes.subarray(from, until))}`);
  const middle = until - SAFE_BYTES;
  return (BigInt(numberAt(bytes, from, middle)) << SAFE_BITS) | BigInt(numberAt(bytes, middle, until));
}

function numberAt(bytes: Uint8Array, from: number, until: number): number {
  let value = 0;
  for (let at = from; at < until; at++) value = value * 256 + (bytes[at] as number);
  return value;
}

/** Number of bytes that fit in a number without loss, which is faster than conversion through text. */
const SAFE_BYTES = 6;
const SAFE_BITS = 48n;
const SAFE_END = 2n ** SAFE_BITS;

/** JSON-RPC quantity: no leading zeros, zero is "0x0" (json-rpc.md#value-encodings). */
export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/** Like toQuantity, but null for what is absent. */
export function quantityOrNull(value: bigint | number | undefined): Hex | null {
  return value === undefined ? null : toQuantity(value);
}

export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
