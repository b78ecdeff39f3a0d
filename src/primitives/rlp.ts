import { concatBytes } from "./hex.ts";

/**
 * RLP written from parts that are already encoded, without building nested arrays first: for the hot paths (block
 * bodies, trie nodes). Everything else, and all reading, uses the library (@ethereumjs/rlp).
 */

/** RLP of a byte string. */
export function encodeRlpString(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 1 && (bytes[0] ?? 0) < 0x80) return bytes;
  return concatBytes(rlpPrefix(bytes.length, 0x80), bytes);
}

/** RLP of a list whose members are encoded already. */
export function encodeRlpList(members: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const member of members) length += member.length;
  return concatBytes(rlpPrefix(length, 0xc0), ...members);
}

/** The bytes before a payload: `base` is 0x80 for strings, 0xc0 for lists. A single byte below 0x80 has none: not judged here. */
export function rlpPrefix(length: number, base: 0x80 | 0xc0): Uint8Array {
  if (length < 56) return Uint8Array.of(base + length);
  const digits = bigEndian(length);
  return Uint8Array.of(base + 55 + digits.length, ...digits);
}

/** RLP of a whole number below 2^53, such as the index of a transaction. */
export function encodeRlpIndex(index: number): Uint8Array {
  return encodeRlpString(Uint8Array.from(bigEndian(index)));
}

function bigEndian(value: number): number[] {
  const digits: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  return digits;
}
