import { nibbleAt, setNibble } from "./nibbles.ts";

/*
 * RLP of trie nodes, read and written in place: a block of 12,000 transfers encodes 60,000 nodes, and a general
 * encoder would spend more time on arrays of items than keccak spends on hashing.
 */

/** Index of the first payload byte of the item at `at`. */
export function payloadStart(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return at;
  if (first <= 0xb7) return at + 1;
  if (first <= 0xbf) return at + 1 + (first - 0xb7);
  if (first <= 0xf7) return at + 1;
  return at + 1 + (first - 0xf7);
}

/** Index after the item at `at`. */
export function itemEnd(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return at + 1;
  if (first <= 0xb7) return at + 1 + (first - 0x80);
  if (first <= 0xbf) return longEnd(bytes, at, first - 0xb7);
  if (first <= 0xf7) return at + 1 + (first - 0xc0);
  return longEnd(bytes, at, first - 0xf7);
}

function longEnd(bytes: Uint8Array, at: number, lengthBytes: number): number {
  let length = 0;
  for (let i = 1; i <= lengthBytes; i++) length = length * 256 + (bytes[at + i] ?? 0);
  return at + 1 + lengthBytes + length;
}

/** Length of the header of a list or string with `length` bytes of payload. */
export function headerLength(length: number): number {
  if (length < 56) return 1;
  return length < 256 ? 2 : length < 65536 ? 3 : 4;
}

/** Writes the header of a string (`base` 0x80) or list (0xc0); returns the index after it. */
export function writeHeader(bytes: Uint8Array, start: number, length: number, base: number): number {
  let at = start;
  if (length < 56) {
    bytes[at++] = base + length;
    return at;
  }
  const lengthBytes = headerLength(length) - 1;
  bytes[at++] = base + 55 + lengthBytes;
  for (let shift = (lengthBytes - 1) * 8; shift >= 0; shift -= 8) bytes[at++] = (length >> shift) & 0xff;
  return at;
}

/** Length of the RLP string that holds `bytes`. */
export function stringLength(bytes: Uint8Array): number {
  if (bytes.length === 1 && (bytes[0] ?? 0) < 0x80) return 1;
  return headerLength(bytes.length) + bytes.length;
}

export function writeString(bytes: Uint8Array, start: number, value: Uint8Array): number {
  let at = start;
  if (value.length !== 1 || (value[0] ?? 0) >= 0x80) at = writeHeader(bytes, at, value.length, 0x80);
  bytes.set(value, at);
  return at + value.length;
}

/** Length of the RLP string with the hex-prefix form of `count` nibbles; a single byte has no header. */
export function pathLength(count: number): number {
  return count < 2 ? 1 : 2 + (count >> 1);
}

/** Writes nibbles [from, until) of `key` in hex-prefix form as an RLP string (yellow paper, appendix C). */
export function writePath(
  bytes: Uint8Array,
  start: number,
  key: Uint8Array,
  from: number,
  until: number,
  flag: 0 | 0x20,
): number {
  const count = until - from;
  let at = start;
  if (count >= 2) bytes[at++] = 0x81 + (count >> 1);
  const isOdd = (count & 1) === 1;
  bytes[at++] = flag | (isOdd ? 0x10 | nibbleAt(key, from) : 0);
  for (let depth = isOdd ? from + 1 : from; depth < until; depth += 2)
    bytes[at++] = (nibbleAt(key, depth) << 4) | nibbleAt(key, depth + 1);
  return at;
}

/** True when the two-item node whose list begins at `at` is a leaf, false for an extension. */
export function isLeafNode(bytes: Uint8Array, at: number): boolean {
  const path = payloadStart(bytes, payloadStart(bytes, at));
  return ((bytes[path] ?? 0) & 0x20) !== 0;
}

/** True when the list at `at` has more than two items, and so is a branch with its seventeen. */
export function isBranchNode(bytes: Uint8Array, at: number): boolean {
  const end = itemEnd(bytes, at);
  let item = payloadStart(bytes, at);
  for (let i = 0; i < 2; i++) item = itemEnd(bytes, item);
  return item < end;
}

/** Decodes the path of the two-item node at `at` into `key` from `depth` on; returns the depth where it ends. */
export function readPath(bytes: Uint8Array, at: number, key: Uint8Array, depth: number): number {
  const item = payloadStart(bytes, at);
  const end = itemEnd(bytes, item);
  let byte = payloadStart(bytes, item);
  let into = depth;
  const first = bytes[byte++] ?? 0;
  if ((first & 0x10) !== 0) setNibble(key, into++, first & 15);
  for (; byte < end; byte++) {
    setNibble(key, into++, (bytes[byte] ?? 0) >> 4);
    setNibble(key, into++, (bytes[byte] ?? 0) & 15);
  }
  return into;
}

/** Index of the second item of the two-item node at `at`. */
export function secondItem(bytes: Uint8Array, at: number): number {
  return itemEnd(bytes, payloadStart(bytes, at));
}
