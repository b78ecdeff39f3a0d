import { crc32 } from "node:zlib";
import { EMPTY_BYTES } from "../primitives/hex.ts";
import { DamagedData } from "./database.ts";

/** Bytes that a seal adds to a value. */
export const SEAL_BYTES = 4;

/**
 * The value of `key` with its checksum behind it: CRC-32 over key and value. The key is covered too, so that a sound
 * value which turns up under another key (a bit of the key flipped on disk) is noticed as well. LevelDB reads its
 * tables without looking at its own checksums, and the binding has no option for it
 * (architecture.md#measurements).
 */
export function sealEntry(key: Uint8Array, value: Uint8Array): Uint8Array {
  const sealed = new Uint8Array(value.length + SEAL_BYTES);
  sealed.set(value);
  writeUint32(sealed, value.length, checksumOf(key, value));
  return sealed;
}

/**
 * The value inside a seal (a view, not a copy). Throws DamagedData, naming `what`, when key or value are not what was
 * sealed. `what` begins the message: "the header of block 7".
 */
export function openEntry(key: Uint8Array, sealed: Uint8Array, what: string | (() => string)): Uint8Array {
  const length = sealed.length - SEAL_BYTES;
  if (length >= 0) {
    const value = sealed.subarray(0, length);
    if (sealOf(sealed) === checksumOf(key, value)) return value;
  }
  throw damaged(what, "its checksum does not match");
}

/** As sealEntry for a value that names its own place (a trie page is known by the hashes in it): the key is not covered. */
export function sealValue(value: Uint8Array): Uint8Array {
  return sealEntry(EMPTY_BYTES, value);
}

/** As openEntry for what sealValue sealed. */
export function openValue(sealed: Uint8Array, what: string | (() => string)): Uint8Array {
  return openEntry(EMPTY_BYTES, sealed, what);
}

/** The checksum that a sealed value carries. */
export function sealOf(sealed: Uint8Array): number {
  return readUint32(sealed, sealed.length - SEAL_BYTES);
}

/**
 * CRC-32 over key and value. Nothing is asked of zlib for empty parts: for an empty view without memory behind it zlib
 * forgets what it had summed up before.
 */
export function checksumOf(key: Uint8Array, value: Uint8Array): number {
  const ofKey = key.length === 0 ? 0 : crc32(key);
  return value.length === 0 ? ofKey : crc32(value, ofKey);
}

/** Says what is damaged, why we think so, and what the operator can do. */
export function damaged(what: string | (() => string), why: string): DamagedData {
  return new DamagedData(
    `${sentence(typeof what === "string" ? what : what())} is damaged: ${why}. ${REMEDY}`,
  );
}

/** As damaged, for what the chain's own records say must be there. */
export function missing(what: string): DamagedData {
  return new DamagedData(`${sentence(what)} is missing from the database. ${REMEDY}`);
}

/**
 * What to replace and what to keep. Only the chain can be fetched again: a validator that loses its key is lost, one that
 * goes back to older votes can contradict those that it forgot.
 */
export const REPLACE_CHAIN =
  "put chain/ and head.log of a backup in the place of those in the data folder, or delete chain/, caches/ and head.log " +
  "there and let the node fetch the chain again from its peers. Keep everything else as it is: key is the node's " +
  "identity, and a validator without its votes.log and votes.log.mark could contradict its votes.";

/** What to do about damage, for the end of a message. */
export const REMEDY = `Stop the node and run \`ibex database check\` to see all that is damaged; then ${REPLACE_CHAIN}`;

export function writeUint32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 24;
  bytes[offset + 1] = value >>> 16;
  bytes[offset + 2] = value >>> 8;
  bytes[offset + 3] = value;
}

export function readUint32(bytes: Uint8Array, offset: number): number {
  return (
    (((bytes[offset] ?? 0) << 24) |
      ((bytes[offset + 1] ?? 0) << 16) |
      ((bytes[offset + 2] ?? 0) << 8) |
      (bytes[offset + 3] ?? 0)) >>>
    0
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
