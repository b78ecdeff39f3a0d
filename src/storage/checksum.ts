import { crc32 } from "node:zlib";
import { EMPTY_BYTES } from "../primitives/hex.ts";
import { STEP_BYTES, type Steps } from "../primitives/steps.ts";
import type { RecordWriter } from "./blocks/byteRecord.ts";
import { DamagedData } from "./database.ts";

/** Bytes that the checksum adds to a value. */
export const SEAL_BYTES = 4;

/**
 * Appends a checksum to the value of `key`: CRC-32 over key and value. It covers the key as well, so that a valid value
 * under a wrong key (a bit of the key flipped on disk) is detected. LevelDB reads its tables without verifying its own
 * checksums, and the binding has no option for that (architecture.md#measurements).
 */
export function sealEntry(key: Uint8Array, value: Uint8Array): Uint8Array {
  const sealed = new Uint8Array(value.length + SEAL_BYTES);
  sealed.set(value);
  writeUint32(sealed, value.length, checksumOf(key, value));
  return sealed;
}

/** Like sealEntry for what `record` has written, in steps and without a copy if it has room left: a value may have megabytes. */
export function* sealRecordInSteps(key: Uint8Array, record: RecordWriter): Steps<Uint8Array> {
  const checksum = new Uint8Array(SEAL_BYTES);
  writeUint32(checksum, 0, yield* checksumInSteps(key, record.finish()));
  record.fixed(checksum);
  return record.finish();
}

/**
 * Returns the value without its checksum (a view, not a copy). Throws DamagedData when the checksum does not match key
 * and value. `what` begins the message: "the header of block 7".
 */
export function openEntry(key: Uint8Array, sealed: Uint8Array, what: string | (() => string)): Uint8Array {
  const value = valueOfEntry(key, sealed);
  if (value === undefined) throw damaged(what, "its checksum does not match");
  return value;
}

/** Like openEntry, in steps. */
export function* openEntryInSteps(
  key: Uint8Array,
  sealed: Uint8Array,
  what: string | (() => string),
): Steps<Uint8Array> {
  if (sealed.length <= STEP_BYTES) return openEntry(key, sealed, what);
  const value = sealed.subarray(0, sealed.length - SEAL_BYTES);
  if (sealOf(sealed) !== (yield* checksumInSteps(key, value)))
    throw damaged(what, "its checksum does not match");
  return value;
}

/** Like openEntry, but returns undefined when the checksum does not match. */
export function valueOfEntry(key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
  const length = sealed.length - SEAL_BYTES;
  if (length < 0) return undefined;
  const value = sealed.subarray(0, length);
  return sealOf(sealed) === checksumOf(key, value) ? value : undefined;
}

/** Like sealEntry, for a value without a key, such as the contents of a file. */
export function sealValue(value: Uint8Array): Uint8Array {
  return sealEntry(EMPTY_BYTES, value);
}

/** Inverse of sealValue; throws as openEntry does. */
export function openValue(sealed: Uint8Array, what: string | (() => string)): Uint8Array {
  return openEntry(EMPTY_BYTES, sealed, what);
}

/** Reads the checksum of a sealed value. */
export function sealOf(sealed: Uint8Array): number {
  return readUint32(sealed, sealed.length - SEAL_BYTES);
}

/**
 * CRC-32 over key and value. Empty parts skip zlib: for an empty view without a buffer behind it, zlib forgets the sum
 * so far.
 */
export function checksumOf(key: Uint8Array, value: Uint8Array): number {
  const ofKey = key.length === 0 ? 0 : crc32(key);
  return value.length === 0 ? ofKey : crc32(value, ofKey);
}

function* checksumInSteps(key: Uint8Array, value: Uint8Array): Steps<number> {
  let checksum = checksumOf(key, EMPTY_BYTES);
  for (let at = 0; at < value.length; at += STEP_BYTES) {
    if (at > 0) yield;
    checksum = crc32(value.subarray(at, at + STEP_BYTES), checksum);
  }
  return checksum;
}

/** Creates an error that says what is damaged, how that shows, and what the operator can do. */
export function damaged(what: string | (() => string), why: string): DamagedData {
  return new DamagedData(
    `${sentence(typeof what === "string" ? what : what())} is damaged: ${why}. ${REMEDY}`,
  );
}

/** Like `damaged`, for an entry that the chain's own records require. */
export function missing(what: string): DamagedData {
  return new DamagedData(`${sentence(what)} is missing from the database. ${REMEDY}`);
}

/**
 * Says what to replace and what to keep. Only the chain can be fetched again: a validator cannot replace a lost key, and one
 * with older votes can contradict its newer ones.
 */
export const REPLACE_CHAIN =
  "delete chain/, caches/ and head.log in the data folder, and restore a backup (`ibex backup restore`) or let the node " +
  "fetch the chain again from its peers. Keep everything else as it is: key is the node's " +
  "identity, and a validator without its votes.log and votes.log.mark could contradict its votes.";

/** The remedy for damage, for the end of a message. */
export const REMEDY = `Stop the node and run \`ibex database check\` to see all that is damaged; then ${REPLACE_CHAIN}`;

/** The remedy for damage in a marked folder of the development network, whose blocks no other node has. */
const MARKED_REMEDY =
  "To begin again, stop the node and delete chain/, caches/ and head.log in the data folder, or give another folder with --data-path. No " +
  "other node has the blocks of a development network: what was deployed there is to be deployed again. `ibex database check` shows all " +
  "that is damaged.";

/** The same damage, found in such a folder. */
export function inMarkedFolder({ message }: DamagedData): DamagedData {
  return new DamagedData(
    [REMEDY, REPLACE_CHAIN].reduce((text, remedy) => text.replace(remedy, MARKED_REMEDY), message),
  );
}

/**
 * Remedy for a chain that has lost its newest blocks and is otherwise whole, which the next start verifies. The mildest cure
 * comes first. It does not help when no other node has the lost blocks: a sole validator would make others in their place.
 */
export const FETCH_LOST_BLOCKS =
  "delete only head.log in the data folder, if other nodes have the lost blocks: the node verifies the blocks that it has " +
  "when it starts, and fetches the others from its peers. A sole validator must not do that, since it would make other blocks in their " +
  "place. Otherwise, or if that start is refused, " +
  `${REPLACE_CHAIN}`;

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
