import { RLP } from "@ethereumjs/rlp";
import { asHash, type Hash } from "../primitives/hash.ts";
import { EMPTY_BYTES, toHex } from "../primitives/hex.ts";
import { bigintToBytes, bytesToBigint } from "../primitives/quantity.ts";
import type { NamedHeader, StoredBlock } from "../types/block.ts";
import { decodeHeader, encodeHeader, type Header, headerFromItems, headerItems } from "../types/header.ts";
import { RecordReader, RecordWriter } from "./byteRecord.ts";
import { damaged, openEntry, sealEntry } from "./checksum.ts";
import type { Batch, Database } from "./database.ts";
import { blockNumberKey, headerKey } from "./keys.ts";

/** A stored header with the small facts about its block. */
export interface HeaderRecord extends NamedHeader {
  /** Length in bytes of the block's RLP. */
  readonly size: number;
  readonly transactionCount: number;
  readonly ommers: readonly Header[];
  readonly withdrawals?: readonly unknown[];
}

/** Adds the header, found by number, and the way to it from the hash. */
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

export function deleteHeader(batch: Batch, { header, hash }: NamedHeader): void {
  batch.delete(headerKey(header.number));
  batch.delete(blockNumberKey(hash));
}

/** Undefined when there is none of that number. */
export function readHeader(database: Database, number: bigint): HeaderRecord | undefined {
  const key = headerKey(number);
  const sealed = database.get(key);
  return sealed === undefined
    ? undefined
    : decodeRecord(
        openEntry(key, sealed, () => nameOf(number)),
        number,
      );
}

/** Number of the block with that hash; undefined when no stored block has it. */
export function readBlockNumber(database: Database, hash: Hash): bigint | undefined {
  const key = blockNumberKey(hash);
  const sealed = database.get(key);
  if (sealed === undefined) return undefined;
  return bytesToBigint(openEntry(key, sealed, () => `the index entry of block ${toHex(hash)}`));
}

function decodeRecord(record: Uint8Array, number: bigint): HeaderRecord {
  const reader = new RecordReader(record);
  const hash = asHash(reader.fixed(32));
  const totalDifficulty = bytesToBigint(reader.sized());
  const size = reader.number();
  const transactionCount = reader.number();
  const header = decodeHeader(reader.sized());
  if (!header.ok) throw damaged(nameOf(number), header.rejection.message);
  const extras = decodeExtras(reader.sized(), number);
  return { hash, totalDifficulty, size, transactionCount, header: header.value, ...extras };
}

/** Ommers and withdrawals, which only foreign test chains and genesis blocks have: no bytes when there are none. */
function encodeExtras({ ommers, withdrawals }: StoredBlock): Uint8Array {
  if (ommers.length === 0 && withdrawals === undefined) return EMPTY_BYTES;
  const items = [
    ommers.map((ommer) => headerItems(ommer)),
    ...(withdrawals === undefined ? [] : [withdrawals]),
  ];
  return RLP.encode(items as Uint8Array[][]);
}

function decodeExtras(bytes: Uint8Array, number: bigint): Pick<HeaderRecord, "ommers" | "withdrawals"> {
  if (bytes.length === 0) return NO_EXTRAS;
  const [ommerItems, withdrawals] = RLP.decode(bytes) as unknown as [unknown[], unknown[]?];
  const ommers = ommerItems.map((items) => {
    const ommer = headerFromItems(items);
    if (!ommer.ok) throw damaged(nameOf(number), ommer.rejection.message);
    return ommer.value;
  });
  return { ommers, ...(withdrawals !== undefined && { withdrawals }) };
}

const NO_EXTRAS = { ommers: [] };

function nameOf(number: bigint): string {
  return `the header of block ${number}`;
}
