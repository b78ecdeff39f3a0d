import { type Address, asAddress } from "../primitives/address.ts";
import { asHash, type Hash } from "../primitives/hash.ts";
import { concatBytes, EMPTY_BYTES, toHex } from "../primitives/hex.ts";
import type { Batch } from "../storage/batch.ts";
import { RecordReader, RecordWriter } from "../storage/blocks/byteRecord.ts";
import { sealEntry, valueOfEntry, writeUint32 } from "../storage/checksum.ts";
import type { DatabaseReads, KeyRange } from "../storage/database.ts";
import { UnusableIndex } from "./unusableIndex.ts";

/**
 * Every key of the index by address: its first byte, what follows it, and the value. Numbers are big-endian, so that the
 * entries of an account sort by time. Every value ends with a checksum over key and value.
 *
 * Its statistics have keys of their own (statisticsLayout.ts).
 *
 * The index has a LevelDB of its own beside the chain's (architecture.md#the-index-by-address). Nothing in it is the only
 * copy of anything: it can be deleted, and is then rebuilt.
 */
const PREFIXES = {
  /** -> version, first and next block, what is to be removed (IndexStatus). */
  status: 0x01,
  /** slot u8 -> number and hash of a block at which a step ended: the newest in that slot. */
  recentMark: 0x02,
  /** number u48 -> hash of a block at which a step ended, some thousand blocks apart. */
  mark: 0x03,
  /** account, block u48, index u32 -> nothing: the account took part in that transaction. */
  participation: 0x10,
  /** account, block u48, log index u32 -> index of the transaction. */
  accountTransfer: 0x11,
  /** token, block u48, log index u32 -> index of the transaction. */
  tokenTransfer: 0x12,
  /** account, token, standard u8, id of 32 bytes unless ERC-20 -> the last block that moved it. */
  holding: 0x13,
  /** token, account, standard u8, id of 32 bytes unless ERC-20 -> the last block that moved it. */
  holder: 0x14,
  /** contract, block u48, index u32 -> who created it. */
  creation: 0x15,
  /** token, id, block u48, log index u32 -> index of the transaction. */
  idTransfer: 0x16,
  /** token, id, account, standard u8 -> the last block that moved it. */
  idHolder: 0x17,
} as const;

/** Kinds of entries with one position in one block, below a subject. */
export type Placed = "participation" | "accountTransfer" | "tokenTransfer" | "creation" | "idTransfer";
/** Kinds of entries about a token and an account, which last as long as the index has a block that moved the token. */
export type Pair = "holding" | "holder" | "idHolder";
/** The subject with which keys begin: an account or a contract; for `id…` a token and an id of 32 bytes. */
export type Subject = Uint8Array;

/** A position in the chain: a transaction's by its index, a log's by its number in the block. */
export interface Place {
  readonly block: number;
  readonly position: number;
}

/** The first place of all, and one after the last. */
export const START_OF_CHAIN: Place = { block: 0, position: 0 };
export const END_OF_CHAIN: Place = { block: 2 ** 48 - 1, position: 0 };

export type Standard = "ERC-20" | "ERC-721" | "ERC-1155";

/** An asset that an account may hold: a token, or one of its ids if its standard has them. */
export interface Asset {
  readonly token: Address;
  readonly standard: Standard;
  /** 32 bytes; undefined for ERC-20. */
  readonly tokenId: Uint8Array | undefined;
}

/** The blocks that the index covers, as stored in its database. */
export interface IndexStatus {
  /** First block, and the one after the last; equal when it has none. */
  readonly first: number;
  readonly next: number;
  /** True when entries of blocks from `next` on may exist, left by a rewind. */
  readonly isStale: boolean;
  /** True when entries of blocks before `first` may exist, to be removed for room. */
  readonly isPruning: boolean;
}

/**
 * Version of the layout. Raise it whenever the entries, or the way they are found in blocks, change: an index of another
 * version is rebuilt.
 */
const VERSION = 2;
const STATUS_KEY = Uint8Array.of(PREFIXES.status);
export const STANDARDS: readonly Standard[] = ["ERC-20", "ERC-721", "ERC-1155"];
export const PLACE_BYTES = 10;
const ID_BYTES = 32;
/** Longest rest of a key: an address, a standard and an id. */
const LONGEST_REST_BYTES = 20 + 1 + ID_BYTES;

/** Reads the status; undefined when the index is new. Throws UnusableIndex, also when it has another version. */
export function readStatus(database: Pick<DatabaseReads, "get">): IndexStatus | undefined {
  const sealed = database.get(STATUS_KEY);
  if (sealed === undefined) return undefined;
  const reader = new RecordReader(valueIn(STATUS_KEY, sealed));
  const version = reader.number();
  if (version !== VERSION)
    throw new UnusableIndex(`The index by address has version ${version}, not ${VERSION}`);
  const [first, next, flags] = [reader.number(), reader.number(), reader.number()];
  return { first, next, isStale: (flags & 1) !== 0, isPruning: (flags & 2) !== 0 };
}

export function putStatus(batch: Batch, { first, next, isStale, isPruning }: IndexStatus): void {
  const writer = new RecordWriter(24);
  for (const number of [VERSION, first, next, (isStale ? 1 : 0) | (isPruning ? 2 : 0)]) writer.number(number);
  put(batch, STATUS_KEY, writer.finish());
}

/** A block of the index, with which a later check finds out whether it is still on the chain. */
export interface Mark {
  readonly number: number;
  readonly hash: Hash;
}

const RECENT_MARKS = 256;

export function putRecentMark(batch: Batch, { number, hash }: Mark): void {
  const writer = new RecordWriter(40);
  writer.number(number);
  writer.fixed(hash);
  put(batch, Uint8Array.of(PREFIXES.recentMark, number % RECENT_MARKS), writer.finish());
}

/** The recent mark at a block, if a step ended there and no later one reused its slot. */
export function readRecentMark(database: Pick<DatabaseReads, "get">, number: number): Mark | undefined {
  const key = Uint8Array.of(PREFIXES.recentMark, number % RECENT_MARKS);
  const sealed = database.get(key);
  if (sealed === undefined) return undefined;
  const mark = recentMarkOf(key, sealed);
  return mark.number === number ? mark : undefined;
}

function recentMarkOf(key: Uint8Array, sealed: Uint8Array): Mark {
  const reader = new RecordReader(valueIn(key, sealed));
  return { number: reader.number(), hash: asHash(reader.fixed(32)) };
}

export function putMark(batch: Batch, { number, hash }: Mark): void {
  const key = new Uint8Array(7);
  key[0] = PREFIXES.mark;
  writeNumber(key, 1, number);
  put(batch, key, hash);
}

/** All marks of both kinds. */
export const MARKS: Pick<KeyRange, "from" | "until"> = {
  from: Uint8Array.of(PREFIXES.recentMark),
  until: Uint8Array.of(PREFIXES.mark + 1),
};

/** All marks, the newest first. */
export async function marksOf(database: Pick<DatabaseReads, "range">): Promise<readonly Mark[]> {
  const marks: Mark[] = [];
  for await (const [key, sealed] of database.range(prefixRange(PREFIXES.recentMark)))
    marks.push(recentMarkOf(key, sealed));
  for await (const [key, sealed] of database.range(prefixRange(PREFIXES.mark)))
    marks.push({ number: readNumber(key, 1), hash: asHash(valueIn(key, sealed)) });
  return marks.sort((one, other) => other.number - one.number);
}

export function putPlaced(
  batch: Batch,
  kind: Placed,
  subject: Subject,
  place: Place,
  value: Uint8Array = EMPTY_BYTES,
): void {
  put(batch, placedKey(kind, subject, place), value);
}

function placedKey(kind: Placed, subject: Subject, place: Place): Uint8Array {
  const key = new Uint8Array(1 + subject.length + PLACE_BYTES);
  key[0] = PREFIXES[kind];
  key.set(subject, 1);
  writePlace(key, 1 + subject.length, place);
  return key;
}

/** Entries of a kind below a subject, from one place up to before another. */
export function placedRange(
  kind: Placed,
  subject: Subject,
  { from, until }: { readonly from: Place; readonly until: Place },
): Pick<KeyRange, "from" | "until"> {
  return { from: placedKey(kind, subject, from), until: placedKey(kind, subject, until) };
}

export function placeInKey(key: Uint8Array): Place {
  return readPlace(key, key.length - PLACE_BYTES);
}

export function writePlace(bytes: Uint8Array, at: number, { block, position }: Place): void {
  writeNumber(bytes, at, block);
  writeUint32(bytes, at + 6, position);
}

export function readPlace(bytes: Uint8Array, at: number): Place {
  return { block: readNumber(bytes, at), position: viewOf(bytes).getUint32(at + 6) };
}

/** The value of an entry, verified. Throws UnusableIndex. */
export function valueIn(key: Uint8Array, sealed: Uint8Array): Uint8Array {
  const value = valueOfEntry(key, sealed);
  if (value === undefined)
    throw new UnusableIndex(`The entry ${toHex(key)} of the index by address does not match its checksum`);
  return value;
}

export function encodeIndex(index: number): Uint8Array {
  const writer = new RecordWriter(8);
  writer.number(index);
  return writer.finish();
}

export function decodeIndexValue(value: Uint8Array): number {
  return new RecordReader(value).number();
}

/** The key of an asset of an account in one of the three orders. */
export function pairKey(
  kind: Pair,
  account: Address,
  { token, standard, tokenId = EMPTY_BYTES }: Asset,
): Uint8Array {
  const prefix = Uint8Array.of(PREFIXES[kind]);
  const mark = Uint8Array.of(STANDARDS.indexOf(standard) + 1);
  switch (kind) {
    case "holding":
      return concatBytes(prefix, account, token, mark, tokenId);
    case "holder":
      return concatBytes(prefix, token, account, mark, tokenId);
    case "idHolder":
      return concatBytes(prefix, token, tokenId, account, mark);
  }
}

export function putPair(batch: Batch, key: Uint8Array, block: number): void {
  put(batch, key, encodeIndex(block));
}

/** Account and asset in the key of any order. */
export function pairInKey(kind: Pair, key: Uint8Array): { readonly account: Address; readonly asset: Asset } {
  if (kind === "idHolder") {
    const standard = STANDARDS[(key[73] ?? 1) - 1] ?? "ERC-721";
    const asset = { token: asAddress(key.slice(1, 21)), standard, tokenId: key.slice(21, 53) };
    return { account: asAddress(key.slice(53, 73)), asset };
  }
  const [first, second] = [asAddress(key.slice(1, 21)), asAddress(key.slice(21, 41))];
  const standard = STANDARDS[(key[41] ?? 1) - 1] ?? "ERC-20";
  const tokenId = standard === "ERC-20" ? undefined : key.slice(42);
  const [account, token] = kind === "holding" ? [first, second] : [second, first];
  return { account, asset: { token, standard, tokenId } };
}

/** Range of pairs below a subject, from the start or after an earlier key. */
export function pairRange(
  kind: Pair,
  subject: Subject,
  after: Uint8Array = EMPTY_BYTES,
): Pick<KeyRange, "from" | "until"> {
  const prefix = concatBytes(Uint8Array.of(PREFIXES[kind]), subject);
  const beyond = new Uint8Array(LONGEST_REST_BYTES + 1).fill(0xff);
  return {
    from: after.length === 0 ? prefix : concatBytes(prefix, after, Uint8Array.of(0)),
    until: concatBytes(prefix, beyond),
  };
}

/** What follows the subject in the key of a pair: 21 or 53 bytes. */
export function restOfPairKey(kind: Pair, key: Uint8Array): Uint8Array {
  return key.slice(kind === "idHolder" ? 1 + 20 + ID_BYTES : 1 + 20);
}

/** Range of all entries that belong to blocks. */
export const BLOCK_ENTRIES: Pick<KeyRange, "from" | "until"> = {
  from: Uint8Array.of(PREFIXES.participation),
  until: Uint8Array.of(PREFIXES.idHolder + 1),
};

export function isPair([kind]: Uint8Array): boolean {
  return kind === PREFIXES.holding || kind === PREFIXES.holder || kind === PREFIXES.idHolder;
}

function put(batch: Batch, key: Uint8Array, value: Uint8Array): void {
  batch.put(key, sealEntry(key, value));
}

function prefixRange(prefix: number): Pick<KeyRange, "from" | "until"> {
  return { from: Uint8Array.of(prefix), until: Uint8Array.of(prefix + 1) };
}

function writeNumber(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = Math.floor(value / 2 ** 40);
  bytes[at + 1] = Math.floor(value / 2 ** 32);
  writeUint32(bytes, at + 2, value % 2 ** 32);
}

function readNumber(bytes: Uint8Array, at: number): number {
  const view = viewOf(bytes);
  return view.getUint16(at) * 2 ** 32 + view.getUint32(at + 2);
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}
