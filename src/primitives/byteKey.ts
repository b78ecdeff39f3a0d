import { hexToBytes, toDigits } from "./hex.ts";

/**
 * Converts bytes to a string key for Maps, because byte arrays compare by identity. Not for display: addresses and
 * hashes, tens of thousands a second, are packed two bytes to a character, which takes a fifth of the time of hex
 * digits to make and a third to look up. Both lengths are written out: a list of character codes takes four times as
 * long, and a concatenation of two parts is flattened at each lookup.
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

/**
 * Like toKey, but remembers the last key it made: an instruction on a slot looks it up in several maps. The bytes are never
 * changed.
 */
export function keyOfSlot(slot: Uint8Array): string {
  if (slot === lastSlot) return lastKey;
  lastKey = toKey(slot);
  lastSlot = slot;
  return lastKey;
}

let lastSlot: Uint8Array | undefined;
let lastKey = "";

/**
 * Like toKey, but remembers the keys of the last few addresses: sender, recipient and beneficiary of a message are looked up in
 * turn, in what it has accessed and in each state. The bytes are never changed.
 */
export function keyOfAddress(address: Uint8Array): string {
  for (let at = 0; at < REMEMBERED; at++) if (addresses[at] === address) return addressKeys[at] as string;
  const key = toKey(address);
  addresses[oldest] = address;
  addressKeys[oldest] = key;
  oldest = (oldest + 1) % REMEMBERED;
  return key;
}

const REMEMBERED = 4;
const addresses = new Array<Uint8Array | undefined>(REMEMBERED).fill(undefined);
const addressKeys = new Array<string>(REMEMBERED).fill("");
let oldest = 0;

/** Inverse of toKey. */
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

/** Makes the length of such keys odd; the keys above have even lengths. */
const OTHER = "x";

function pair(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}
