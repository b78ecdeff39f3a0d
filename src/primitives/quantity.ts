import { EMPTY_BYTES, type Hex, toDigits } from "./hex.ts";

/** Big-endian bytes without leading zeros; zero gives no bytes (RLP's canonical scalar). */
export function bigintToBytes(value: bigint): Uint8Array {
  if (value < 0n) throw new RangeError("a quantity cannot be negative");
  if (value === 0n) return EMPTY_BYTES;
  const digits = value.toString(16);
  return Uint8Array.from(Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex"));
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
  if (bytes.length > SAFE_BYTES) return BigInt(`0x${toDigits(bytes)}`);
  let value = 0;
  for (const byte of bytes) value = value * 256 + byte;
  return BigInt(value);
}

/** Up to this many bytes fit in a number without loss, which is faster than conversion through text. */
const SAFE_BYTES = 6;

/** JSON-RPC quantity: no leading zeros, zero is "0x0" (json-rpc.md#value-encodings). */
export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
