import { hexToBytes, toDigits } from "./hex.ts";

/**
 * A text that equal bytes share and others do not, for keys of Maps: byte arrays themselves compare by identity. Never
 * shown: addresses and hashes, of which tens of thousands are made in a second, have two bytes in a character, which
 * takes a fifth of the time that hexadecimal digits take to make, and a third to look up. The two lengths are written out:
 * a list of codes takes four times as long, and what is joined of two parts has to be made one at each look-up.
 */
export function toKey(bytes: Uint8Array): string {
  switch (bytes.length) {
    case 20:
      return String.fromCharCode(
        pair(bytes, 0),
        pair(bytes, 2),
        pair(bytes, 4),
        pair(bytes, 6),
        pair(bytes, 8),
        pair(bytes, 10),
        pair(bytes, 12),
        pair(bytes, 14),
        pair(bytes, 16),
        pair(bytes, 18),
      );
    case 32:
      return String.fromCharCode(
        pair(bytes, 0),
        pair(bytes, 2),
        pair(bytes, 4),
        pair(bytes, 6),
        pair(bytes, 8),
        pair(bytes, 10),
        pair(bytes, 12),
        pair(bytes, 14),
        pair(bytes, 16),
        pair(bytes, 18),
        pair(bytes, 20),
        pair(bytes, 22),
        pair(bytes, 24),
        pair(bytes, 26),
        pair(bytes, 28),
        pair(bytes, 30),
      );
    default:
      return `${OTHER}${toDigits(bytes)}`;
  }
}

/** The bytes that a key was made of. */
export function bytesOfKey(key: string): Uint8Array {
  if (key.length % 2 === 1) return hexToBytes(key.slice(OTHER.length));
  const bytes = new Uint8Array(2 * key.length);
  for (let at = 0; at < key.length; at++) {
    const two = key.charCodeAt(at);
    bytes[2 * at] = two >> 8;
    bytes[2 * at + 1] = two & 0xff;
  }
  return bytes;
}

/** Makes the lengths of such keys odd: those above have even ones. */
const OTHER = "x";

function pair(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}
