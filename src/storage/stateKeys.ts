import type { KeyRange } from "./database.ts";
import { KEY_PREFIXES, prefixRange } from "./keys.ts";

/*
 * Keys of the state (the table of all keys is in keys.ts). The trie entries of one block lie together, after those of
 * earlier blocks:
 *
 *   page of trie nodes    trie prefix  version u32  trie id u48  depth u8  nibbles, two a byte
 *   deleted leaves        trie prefix  version u32  trie id u48  0xff
 *
 * Nodes of the base are ordered by their paths, so that those below a path lie together:
 *
 *   node of the base      base prefix  trie id u48  nibbles, two a byte  depth u8
 */

const DELETED_LEAVES_DEPTH = 0xff;
const TRIE_HEADER_LENGTH = 12;
const SLOT_HEADER_LENGTH = 7;
const BASE_HEADER_LENGTH = 7;

type Keys = Pick<KeyRange, "from" | "until">;

/** Key of the page that version `version` wrote to a trie, rooted at the first `depth` nibbles of `path`. */
export function triePageKey(version: number, trieId: number, path: Uint8Array, depth: number): Uint8Array {
  const pathBytes = (depth + 1) >> 1;
  const key = new Uint8Array(TRIE_HEADER_LENGTH + pathBytes);
  writeTrieHeader(key, version, trieId, depth);
  for (let i = 0; i < pathBytes; i++) key[TRIE_HEADER_LENGTH + i] = path[i] ?? 0;
  if ((depth & 1) === 1) key[key.length - 1] = (key[key.length - 1] ?? 0) & 0xf0;
  return key;
}

/** Key of the list of leaves that version `version` deleted from a trie. */
export function deletedLeavesKey(version: number, trieId: number): Uint8Array {
  const key = new Uint8Array(TRIE_HEADER_LENGTH);
  writeTrieHeader(key, version, trieId, DELETED_LEAVES_DEPTH);
  return key;
}

interface TrieKey {
  readonly version: number;
  readonly trieId: number;
  /** Path of the page's topmost node; undefined for a list of deleted leaves. */
  readonly page: { readonly path: Uint8Array; readonly depth: number } | undefined;
}

export function parseTrieKey(key: Uint8Array): TrieKey {
  const depth = key[TRIE_HEADER_LENGTH - 1] ?? 0;
  const page = depth === DELETED_LEAVES_DEPTH ? undefined : { path: key.subarray(TRIE_HEADER_LENGTH), depth };
  return { version: readNumber(key, 1, 4), trieId: readNumber(key, 5, 6), page };
}

/** Keys of all trie entries written by versions from `from` to below `until`. */
export function trieKeysBetween(from: number, until: number): Keys {
  return { from: trieKeysFrom(from).from, until: trieKeysFrom(until).from };
}

/** Keys of all trie entries that `version` and later versions wrote. */
export function trieKeysFrom(version: number): Keys {
  const from = Uint8Array.of(KEY_PREFIXES.trie, 0, 0, 0, 0);
  writeNumber(from, 1, version, 4);
  return { from, until: prefixRange(KEY_PREFIXES.trie).until };
}

/** Key of the base's node at the first `depth` nibbles of `path`. */
export function baseNodeKey(trieId: number, path: Uint8Array, depth: number): Uint8Array {
  const pathBytes = (depth + 1) >> 1;
  const key = new Uint8Array(BASE_HEADER_LENGTH + pathBytes + 1);
  key[0] = KEY_PREFIXES.base;
  writeNumber(key, 1, trieId, 6);
  for (let i = 0; i < pathBytes; i++) key[BASE_HEADER_LENGTH + i] = path[i] ?? 0;
  if ((depth & 1) === 1) key[key.length - 2] = (key[key.length - 2] ?? 0) & 0xf0;
  key[key.length - 1] = depth;
  return key;
}

/** A node's place in the base: the first `depth` nibbles of `path`, which has no further bytes. */
export interface BaseKey {
  readonly trieId: number;
  readonly path: Uint8Array;
  readonly depth: number;
}

export function parseBaseKey(key: Uint8Array): BaseKey {
  const path = key.subarray(BASE_HEADER_LENGTH, key.length - 1);
  return { trieId: readNumber(key, 1, 6), path, depth: key[key.length - 1] ?? 0 };
}

/**
 * Keys of the base's nodes at the first `depth` nibbles of `path` and below. With an even depth there may be keys of shorter
 * paths among them: those that end with zeros.
 */
export function baseKeysBelow(trieId: number, path: Uint8Array, depth: number): Keys {
  const from = baseNodeKey(trieId, path, depth).slice(0, -1);
  const until = Uint8Array.from(from);
  addToEnd(until, depth > 0 && (depth & 1) === 1 ? 16 : 1);
  return { from, until };
}

/** Adds to a big-endian number; its first byte, a prefix, takes the carry. */
function addToEnd(bytes: Uint8Array, count: number): void {
  let carried = count;
  for (let at = bytes.length - 1; carried > 0; at--) {
    const sum = (bytes[at] ?? 0) + carried;
    bytes[at] = sum & 0xff;
    carried = sum >> 8;
  }
}

/** Key of an account at the head. */
export function accountKey(addressHash: Uint8Array): Uint8Array {
  return prefixed(KEY_PREFIXES.account, addressHash);
}

/** Key of a slot at the head. A new trie id makes all older slots of an account unreachable at once. */
export function slotKey(trieId: number, slotHash: Uint8Array): Uint8Array {
  const key = Buffer.allocUnsafe(SLOT_HEADER_LENGTH + slotHash.length);
  key[0] = KEY_PREFIXES.slot;
  writeNumber(key, 1, trieId, 6);
  key.set(slotHash, SLOT_HEADER_LENGTH);
  return key;
}

export function parseSlotKey(key: Uint8Array): { readonly trieId: number; readonly slotHash: Uint8Array } {
  return { trieId: readNumber(key, 1, 6), slotHash: key.subarray(SLOT_HEADER_LENGTH) };
}

export function codeKey(codeHash: Uint8Array): Uint8Array {
  return prefixed(KEY_PREFIXES.code, codeHash);
}

/** Key of the address or slot that has this hash in the tries. */
export function preimageKey(hash: Uint8Array): Uint8Array {
  return prefixed(KEY_PREFIXES.preimage, hash);
}

/** Key of the record with the root of the state after block `number`. */
export function stateRecordKey(number: number): Uint8Array {
  const key = new Uint8Array(9);
  key[0] = KEY_PREFIXES.stateRecord;
  writeNumber(key, 1, number, 8);
  return key;
}

/** Keys of the records of all states before that of block `number`. */
export function stateRecordKeysBefore(number: number): Keys {
  return { from: stateRecordKey(0), until: stateRecordKey(number) };
}

export function stateRecordKeysFrom(number: number): Keys {
  return { from: stateRecordKey(number), until: prefixRange(KEY_PREFIXES.stateRecord).until };
}

/** Key of the number of the newest state and the count of rewinds. */
export const STATE_HEAD_KEY: Uint8Array = Uint8Array.of(KEY_PREFIXES.stateHead);

function prefixed(prefix: number, bytes: Uint8Array): Uint8Array {
  // The key is a slice of Node's buffer pool, which LevelDB uses without a copy; a small typed array would first move off
  // the heap.
  const key = Buffer.allocUnsafe(1 + bytes.length);
  key[0] = prefix;
  key.set(bytes, 1);
  return key;
}

function writeTrieHeader(key: Uint8Array, version: number, trieId: number, depth: number): void {
  key[0] = KEY_PREFIXES.trie;
  writeNumber(key, 1, version, 4);
  writeNumber(key, 5, trieId, 6);
  key[TRIE_HEADER_LENGTH - 1] = depth;
}

function writeNumber(bytes: Uint8Array, at: number, value: number, length: number): void {
  let rest = value;
  for (let i = length - 1; i >= 0; i--) {
    bytes[at + i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
}

function readNumber(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let i = 0; i < length; i++) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}
