import { asAddress } from "../../primitives/address.ts";
import { assert } from "../../primitives/assert.ts";
import { type Hash, keccak256, keccak256OfParts } from "../../primitives/hash.ts";
import type { Result } from "../../primitives/result.ts";
import type { Steps } from "../../primitives/steps.ts";
import { BlockRemoved } from "../../types/blockRemoved.ts";
import {
  decodeTransaction,
  type SentTransaction,
  type Transaction,
  withSender,
} from "../../types/transaction.ts";
import type { Batch } from "../batch.ts";
import { damaged, sealEntry, valueOfEntry } from "../checksum.ts";
import type { DatabaseReads } from "../database.ts";
import { isWithin, readHistoryStart } from "../historyStart.ts";
import { bodyKey, receiptsKeyOfBody } from "../keys.ts";
import { RecordReader, RecordWriter } from "./byteRecord.ts";
import { CHUNK_TRANSACTIONS, chunkOf, chunksOf, OpenedChunk, openChunk } from "./chunks.ts";
import { type HeaderRecord, isHeaderAlone } from "./headerStore.ts";
import { deleteTransactionPlace } from "./transactionIndex.ts";

/**
 * The transactions of a block, in chunks, each as its sender and its canonical encoding, so that reading recovers no signature.
 */
export function* putTransactionsInSteps(
  batch: Batch,
  number: bigint,
  transactions: readonly SentTransaction[],
): Steps<void> {
  for (let chunk = 0; chunk < chunksOf(transactions.length); chunk++) {
    const key = bodyKey(number, chunk);
    batch.put(key, sealEntry(key, encodeChunk(chunkOf(transactions, chunk))));
    yield;
  }
}

export function deleteTransactions(batch: Batch, number: bigint, count: number): void {
  for (let chunk = 0; chunk < chunksOf(count); chunk++) batch.delete(bodyKey(number, chunk));
}

/**
 * Deletes the chunk of a body with that key and value, the receipts and the index entries of its transactions. The index
 * entries of a damaged chunk stay, and lead to nothing. Returns the number of its transactions.
 */
export function deleteBodyChunk(batch: Batch, key: Uint8Array, sealed: Uint8Array): number {
  const hashes = hashesInChunk(key, sealed);
  for (const hash of hashes) deleteTransactionPlace(batch, hash);
  batch.delete(receiptsKeyOfBody(key));
  batch.delete(key);
  return hashes.length;
}

function hashesInChunk(key: Uint8Array, sealed: Uint8Array): readonly Hash[] {
  const record = valueOfEntry(key, sealed);
  if (record === undefined) return [];
  const hashes: Hash[] = [];
  const reader = new RecordReader(record);
  while (!reader.isAtEnd) {
    reader.skip(SENDER_BYTES);
    hashes.push(keccak256(reader.sized()));
  }
  return hashes;
}

/** All transactions of a block that has `count` of them. */
export function readTransactions(
  database: DatabaseReads,
  number: bigint,
  count: number,
): readonly SentTransaction[] {
  const transactions: SentTransaction[] = [];
  for (let chunk = 0; chunk < chunksOf(count); chunk++) {
    const reader = readChunk(database, number, chunk);
    const inChunk = Math.min(CHUNK_TRANSACTIONS, count - transactions.length);
    for (let at = 0; at < inChunk; at++) transactions.push(decodeEntry(reader, number));
  }
  return transactions;
}

/** The transactions of a stored header's block; undefined where the block is not stored whole, or is being removed. */
export function readBody(
  database: DatabaseReads,
  record: HeaderRecord,
): readonly SentTransaction[] | undefined {
  const { number } = record.header;
  if (isHeaderAlone(record) || !isWithin(readHistoryStart(database), number)) return undefined;
  try {
    return readTransactions(database, number, record.transactionCount);
  } catch (error) {
    if (error instanceof BlockRemoved) return undefined;
    throw error;
  }
}

/** The encodings of all transactions of a block that has `count` of them, undecoded; each chunk is a step. */
export function* readRawTransactionsInSteps(
  database: DatabaseReads,
  number: bigint,
  count: number,
): Steps<readonly Uint8Array[]> {
  const raws: Uint8Array[] = [];
  for (let chunk = 0; chunk < chunksOf(count); chunk++) {
    if (chunk > 0) yield;
    const reader = readChunk(database, number, chunk);
    const inChunk = Math.min(CHUNK_TRANSACTIONS, count - raws.length);
    for (let at = 0; at < inChunk; at++) {
      reader.skip(SENDER_BYTES);
      raws.push(reader.sized());
    }
  }
  return raws;
}

/**
 * The hashes of all transactions of a block that has `count` of them, without decoding: one chunk's at a time, concatenated.
 */
export function* readHashes(
  database: DatabaseReads,
  number: bigint,
  count: number,
): Generator<Uint8Array, void> {
  for (let first = 0; first < count; first += CHUNK_TRANSACTIONS) {
    const reader = readChunk(database, number, first / CHUNK_TRANSACTIONS);
    const bounds: number[] = [];
    for (let left = Math.min(CHUNK_TRANSACTIONS, count - first); left > 0; left--) {
      reader.skip(SENDER_BYTES);
      const length = reader.number();
      bounds.push(reader.skip(length), reader.position);
    }
    yield keccak256OfParts(reader.bytes, bounds);
  }
}

/** Opens a chunk of a block's transactions for lookups. */
export function openTransactions(
  database: DatabaseReads,
  number: bigint,
  chunk: number,
): OpenedChunk<SentTransaction> {
  return new OpenedChunk(readChunk(database, number, chunk), {
    read: (reader) => decodeEntry(reader, number),
    pass: passTransaction,
  });
}

/** Looks up the hashes of a block's transactions in the order of the block, a chunk at a time. */
export function transactionHashes(database: DatabaseReads, number: bigint): (index: number) => Hash {
  let opened: { readonly chunk: number; readonly reader: RecordReader } | undefined;
  let next = 0;
  return (index) => {
    const chunk = Math.floor(index / CHUNK_TRANSACTIONS);
    if (opened?.chunk !== chunk) {
      opened = { chunk, reader: readChunk(database, number, chunk) };
      next = chunk * CHUNK_TRANSACTIONS;
    }
    assert(index >= next, "hashes are looked up in the order of the block");
    const { reader } = opened;
    for (; next < index; next++) passTransaction(reader);
    next++;
    reader.skip(SENDER_BYTES);
    return keccak256(reader.sized());
  };
}

function passTransaction(reader: RecordReader): void {
  reader.skip(SENDER_BYTES);
  reader.skip(reader.number());
}

const SENDER_BYTES = 20;

function encodeChunk(transactions: readonly SentTransaction[]): Uint8Array {
  let expected = 0;
  for (const { raw } of transactions) expected += raw.length + SENDER_BYTES + 4;
  const writer = new RecordWriter(expected);
  for (const { sender, raw } of transactions) {
    writer.fixed(sender);
    writer.sized(raw);
  }
  return writer.finish();
}

function readChunk(database: DatabaseReads, number: bigint, chunk: number): RecordReader {
  return openChunk(database, bodyKey(number, chunk), () => nameOf(number));
}

function decodeEntry(reader: RecordReader, number: bigint): SentTransaction {
  const sender = asAddress(reader.fixed(SENDER_BYTES));
  const transaction: Result<Transaction> = decodeTransaction(reader.sized());
  if (!transaction.ok) throw damaged(nameOf(number), transaction.error.message);
  return withSender(transaction.value, sender);
}

function nameOf(number: bigint): string {
  return `the body of block ${number}`;
}
