import { asHash, type Hash } from "../../primitives/hash.ts";
import { EMPTY_BYTES, toHex } from "../../primitives/hex.ts";
import { bigintToBytes, bytesToBigint } from "../../primitives/quantity.ts";
import { encodeRlp, type RlpItem, readRlp } from "../../primitives/rlp.ts";
import type { NamedHeader, StoredBlock } from "../../types/block.ts";
import { BLOOM_BYTES } from "../../types/bloom.ts";
import { decodeHeader, encodeHeader, type Header, headerFromItems, headerItems } from "../../types/header.ts";
import type { Batch } from "../batch.ts";
import { damaged, missing, openEntry, sealEntry } from "../checksum.ts";
import type { DatabaseReads } from "../database.ts";
import { blockNumberKey, headerKey, KEY_PREFIXES, numberInKey, numberRange } from "../keys.ts";
import { RecordReader, RecordWriter } from "./byteRecord.ts";

/** A stored header with the small fields of its block. */
export interface HeaderRecord extends NamedHeader {
  /** Length in bytes of the block's RLP. */
  readonly size: number;
  readonly transactionCount: number;
  readonly ommers: readonly Header[];
  readonly withdrawals?: readonly RlpItem[];
}

/** Adds the header under its number, and the number under its hash. */
export function putHeader(batch: Batch, block: StoredBlock): void {
  const { number } = block.header;
  const key = headerKey(number);
  const writer = new RecordWriter(800);
  writer.fixed(block.hash);
  writer.sized(bigintToBytes(block.totalDifficulty));
  writer.number(block.size);
  writer.number(block.transactions.length);
  writer.sized(encodeHeader(block.header));
  writer.sized(encodeExtras(block));
  batch.put(key, sealEntry(key, writer.finish()));
  const numberKey = blockNumberKey(block.hash);
  batch.put(numberKey, sealEntry(numberKey, bigintToBytes(number)));
}

/** Like putHeader, for a header without its block: readers know it by its size of 0, which no block has. */
export function putHeaderAlone(batch: Batch, { header, hash, totalDifficulty }: NamedHeader): void {
  putHeader(batch, { header, hash, totalDifficulty, size: 0, transactions: [], receipts: [], ommers: [] });
}

/** Whether only the header of a block is stored, as below the block of an imported snapshot. */
export function isHeaderAlone({ size }: HeaderRecord): boolean {
  return size === 0;
}

export function deleteHeader(batch: Batch, { header, hash }: NamedHeader): void {
  batch.delete(headerKey(header.number));
  batch.delete(blockNumberKey(hash));
}

/** Undefined when there is no block of that number. */
export function readHeader(database: DatabaseReads, number: bigint): HeaderRecord | undefined {
  const key = headerKey(number);
  const sealed = database.get(key);
  return sealed === undefined
    ? undefined
    : decodeRecord(
        openEntry(key, sealed, () => nameOf(number)),
        number,
      );
}

/** The RLP of a stored header, as readHeader finds it but not decoded. */
export function readEncodedHeader(database: DatabaseReads, number: bigint): Uint8Array | undefined {
  const key = headerKey(number);
  const sealed = database.get(key);
  if (sealed === undefined) return undefined;
  const reader = new RecordReader(openEntry(key, sealed, () => nameOf(number)));
  reader.skip(32);
  reader.skip(reader.number());
  reader.number();
  reader.number();
  return reader.sized();
}

/** Number of the block with that hash; undefined when no stored block has it. */
export function readBlockNumber(database: DatabaseReads, hash: Hash): bigint | undefined {
  const key = blockNumberKey(hash);
  const sealed = database.get(key);
  if (sealed === undefined) return undefined;
  return bytesToBigint(openEntry(key, sealed, () => `the index entry of block ${toHex(hash)}`));
}

/** The fields of a header that a log search needs. */
interface HeaderBloom {
  readonly number: bigint;
  readonly hash: Hash;
  readonly parentHash: Hash;
  readonly logsBloom: Uint8Array;
}

/** Blooms of the blocks from `from` to below `until`, as far as the chain goes; a gap among them is damage. */
export async function* readBlooms(
  database: DatabaseReads,
  { from, until }: { readonly from: bigint; readonly until: bigint },
): AsyncGenerator<HeaderBloom> {
  let number = from;
  for await (const [key, sealed] of database.range(numberRange(KEY_PREFIXES.header, { from, until }))) {
    if (numberInKey(key) !== number) throw missing(nameOf(number));
    yield bloomIn(
      openEntry(key, sealed, () => nameOf(number)),
      number,
    );
    number++;
  }
}

/** All fields before the bloom have the same length in every header, so nothing else has to be decoded. */
function bloomIn(record: Uint8Array, number: bigint): HeaderBloom {
  const reader = new RecordReader(record);
  const hash = asHash(reader.fixed(32));
  reader.skip(reader.number());
  reader.number();
  reader.number();
  const header = reader.sized();
  const isExpected = header[0] === 0xf9 && header[BLOOM_AT - 3] === 0xb9 && header[BLOOM_AT - 2] === 0x01;
  if (!isExpected) throw damaged(nameOf(number), "its fields are not where they belong");
  return {
    number,
    hash,
    parentHash: asHash(header.subarray(LIST_PREFIX + 1, LIST_PREFIX + 33)),
    logsBloom: header.subarray(BLOOM_AT, BLOOM_AT + BLOOM_BYTES),
  };
}

const LIST_PREFIX = 3;
/** Offset of the bloom: after five hashes, an address, and the three bytes of the bloom's RLP prefix. */
const BLOOM_AT = LIST_PREFIX + 5 * 33 + 21 + 3;

function decodeRecord(record: Uint8Array, number: bigint): HeaderRecord {
  const reader = new RecordReader(record);
  const hash = asHash(reader.fixed(32));
  const totalDifficulty = bytesToBigint(reader.sized());
  const size = reader.number();
  const transactionCount = reader.number();
  const header = decodeHeader(reader.sized());
  if (!header.ok) throw damaged(nameOf(number), header.error.message);
  const extras = decodeExtras(reader.sized(), number);
  return { hash, totalDifficulty, size, transactionCount, header: header.value, ...extras };
}

/** Ommers and withdrawals, which only test chains of other clients and genesis blocks have: no bytes without them. */
function encodeExtras({ ommers, withdrawals }: StoredBlock): Uint8Array {
  if (ommers.length === 0 && withdrawals === undefined) return EMPTY_BYTES;
  const ommerItems = ommers.map((ommer) => headerItems(ommer));
  return encodeRlp(withdrawals === undefined ? [ommerItems] : [ommerItems, withdrawals]);
}

function decodeExtras(bytes: Uint8Array, number: bigint): Pick<HeaderRecord, "ommers" | "withdrawals"> {
  if (bytes.length === 0) return NO_EXTRAS;
  const [ommerItems, withdrawals] = listOf(readRlp(bytes, EXTRAS_DEPTH));
  const ommers = listOf(ommerItems).map((items) => {
    const ommer = headerFromItems(items);
    if (!ommer.ok) throw damaged(nameOf(number), ommer.error.message);
    return ommer.value;
  });
  return { ommers, ...(withdrawals !== undefined && { withdrawals: listOf(withdrawals) }) };
}

/** Nesting of lists: the extras, a list of ommers or withdrawals, the fields of one. */
const EXTRAS_DEPTH = 3;

function listOf(item: RlpItem | undefined): readonly RlpItem[] {
  if (item === undefined || item instanceof Uint8Array) throw new RangeError("not a list");
  return item;
}

const NO_EXTRAS = { ommers: [] };

function nameOf(number: bigint): string {
  return `the header of block ${number}`;
}
