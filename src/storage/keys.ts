import { assert } from "../primitives/assert.ts";
import type { Hash } from "../primitives/hash.ts";
import { writeUint32 } from "./checksum.ts";
import type { KeyRange } from "./database.ts";

/**
 * Every key of the database in one table: its first byte, what follows it, and the value. Numbers are big-endian, so that
 * keys sort by number.
 *
 * Entries that each block adds (header, body, receipts, commit record, trie nodes) begin with the block's number: new
 * entries sort after all older ones of their kind, and a table of one kind moves down the levels unchanged. Tables with
 * several kinds do not (architecture.md#what-compaction-writes). Keying trie nodes by hash instead made the worst write of a
 * two-minute run 11 s long (architecture.md#measurements). Only entries that must be found by hash (block numbers,
 * transactions, code) or that hold the newest state (flat accounts and slots) have scattered keys, and those values are
 * small.
 *
 * Every value ends with a checksum over key and value (checksum.ts), except code, which is identified by its hash.
 *
 * The constructors are below, those of the state in stateKeys.ts. First bytes and layouts belong to the schema version
 * (schema.ts): a change here needs a higher version.
 */
export const KEY_PREFIXES = {
  /** name in ASCII -> one value about the whole database (MetaName). */
  meta: 0x01,
  /** number u64 -> hash, total difficulty, size, count of transactions, header (headerStore.ts). */
  header: 0x10,
  /** number u64, chunk u16 -> transactions with their senders (bodyStore.ts). */
  body: 0x11,
  /** number u64, chunk u16 -> receipts (receiptStore.ts). */
  receipts: 0x12,
  /** number u64 -> counts and checksums of the block's entries (commitRecord.ts). */
  commit: 0x13,
  /** number u64 -> votes on validators after that block, stored at some blocks only (chain/tallySnapshot.ts). */
  voteTally: 0x14,
  /** block hash -> number. */
  blockNumber: 0x20,
  /** transaction hash -> block number and index (transactionIndex.ts). */
  transaction: 0x21,
  /** version u32 (number of the block that wrote it), trie id u48, depth u8, nibbles packed -> page of trie nodes. */
  trie: 0x30,
  /** keccak256(address) -> account at the head. */
  account: 0x31,
  /** trie id u48, keccak256(slot) -> value of the slot at the head. */
  slot: 0x32,
  /** code hash -> contract code, known by that hash. */
  code: 0x33,
  /** number u64 -> root of the state after that block. */
  stateRecord: 0x34,
  /** no suffix -> number of the newest state, count of the rewinds of this database. */
  stateHead: 0x35,
  /** keccak256(address or slot) -> the address or slot (state/preimages.ts). */
  preimage: 0x36,
  /** trie id u48, nibbles packed, depth u8 -> node of the base of the states (state/trie/baseNode.ts). */
  base: 0x37,
} as const;

export type KeyPrefix = (typeof KEY_PREFIXES)[keyof typeof KEY_PREFIXES];

/** Values about the whole database, by name. */
type MetaName = "schema" | "head" | "rules" | "history" | "import" | "base";

export function metaKey(name: MetaName): Uint8Array {
  const key = new Uint8Array(1 + name.length);
  key[0] = KEY_PREFIXES.meta;
  for (let at = 0; at < name.length; at++) key[at + 1] = name.charCodeAt(at);
  return key;
}

export function headerKey(number: bigint): Uint8Array {
  return numberKey(KEY_PREFIXES.header, number);
}

export function bodyKey(number: bigint, chunk: number): Uint8Array {
  return chunkKey(KEY_PREFIXES.body, number, chunk);
}

export function receiptsKey(number: bigint, chunk: number): Uint8Array {
  return chunkKey(KEY_PREFIXES.receipts, number, chunk);
}

/** The key of the receipts of the transactions in a body's chunk. */
export function receiptsKeyOfBody(key: Uint8Array): Uint8Array {
  const receipts = key.slice();
  receipts[0] = KEY_PREFIXES.receipts;
  return receipts;
}

/** The first key after one of a body's chunk: of its next chunk, or of the next block. */
export function chunkAfter(key: Uint8Array): Uint8Array {
  const chunk = ((key[9] ?? 0) << 8) | (key[10] ?? 0);
  const number = numberInKey(key);
  return chunk === 0xffff ? bodyKey(number + 1n, 0) : bodyKey(number, chunk + 1);
}

export function commitKey(number: bigint): Uint8Array {
  return numberKey(KEY_PREFIXES.commit, number);
}

export function voteTallyKey(number: bigint): Uint8Array {
  return numberKey(KEY_PREFIXES.voteTally, number);
}

export function blockNumberKey(blockHash: Hash): Uint8Array {
  return hashKey(KEY_PREFIXES.blockNumber, blockHash);
}

/**
 * The key has all 32 bytes of the hash. A shorter key would save a tenth of a percent of what a block writes, and would need
 * a read before each write to notice two transactions with one key.
 */
export function transactionKey(transactionHash: Hash): Uint8Array {
  return hashKey(KEY_PREFIXES.transaction, transactionHash);
}

/** Keys with `prefix` whose number is at least `from` and below `until`. */
export function numberRange(
  prefix: NumberedPrefix,
  numbers: { readonly from: bigint; readonly until?: bigint },
): Pick<KeyRange, "from" | "until"> {
  return {
    from: numberKey(prefix, numbers.from),
    until: numbers.until === undefined ? Uint8Array.of(prefix + 1) : numberKey(prefix, numbers.until),
  };
}

export type NumberedPrefix = (typeof KEY_PREFIXES)["header" | "body" | "receipts" | "commit" | "voteTally"];

/** All keys with `prefix`. */
export function prefixRange(prefix: KeyPrefix): Pick<KeyRange, "from" | "until"> {
  return { from: Uint8Array.of(prefix), until: Uint8Array.of(prefix + 1) };
}

/** The number in a key that numberKey made. */
export function numberInKey(key: Uint8Array): bigint {
  return BigInt(readUint64(key, 1));
}

function numberKey(prefix: NumberedPrefix, number: bigint): Uint8Array {
  const key = new Uint8Array(9);
  key[0] = prefix;
  writeUint64(key, 1, Number(number));
  return key;
}

function chunkKey(prefix: NumberedPrefix, number: bigint, chunk: number): Uint8Array {
  assert(chunk >= 0 && chunk <= 0xffff, "chunks are counted in 16 bits");
  const key = new Uint8Array(11);
  key[0] = prefix;
  writeUint64(key, 1, Number(number));
  key[9] = chunk >> 8;
  key[10] = chunk;
  return key;
}

function hashKey(prefix: KeyPrefix, hash: Hash): Uint8Array {
  const key = new Uint8Array(33);
  key[0] = prefix;
  key.set(hash, 1);
  return key;
}

/** Numbers stay below 2^53: at ten blocks a second that is 28 million years. */
function writeUint64(bytes: Uint8Array, offset: number, value: number): void {
  assert(Number.isSafeInteger(value) && value >= 0, "a number in a key is a safe integer");
  writeUint32(bytes, offset, Math.floor(value / TWO_TO_32));
  writeUint32(bytes, offset + 4, value % TWO_TO_32);
}

function readUint64(bytes: Uint8Array, offset: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, 8);
  return view.getUint32(0) * TWO_TO_32 + view.getUint32(4);
}

const TWO_TO_32 = 2 ** 32;
