import { asAddress } from "../../primitives/address.ts";
import type { Result } from "../../primitives/result.ts";
import type { Steps } from "../../primitives/steps.ts";
import {
  decodeTransaction,
  type SentTransaction,
  type Transaction,
  withSender,
} from "../../types/transaction.ts";
import { damaged, missing, openEntry, sealEntry } from "../checksum.ts";
import type { Batch, Database } from "../database.ts";
import { bodyKey } from "../keys.ts";
import { RecordReader, RecordWriter } from "./byteRecord.ts";

/**
 * The transactions of a block, each as its sender and its canonical encoding, so that reading recovers no signature.
 * They are stored in chunks of CHUNK_TRANSACTIONS: one transaction of an old block of 12,000 takes a read of some
 * 15 KB, not of 1.6 MB.
 */
export const CHUNK_TRANSACTIONS = 128;

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

/** All transactions of a block that has `count` of them. */
export function readTransactions(
  database: Database,
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

/** The encodings of all transactions of a block that has `count` of them, undecoded; a chunk is a step. */
export function* readRawTransactionsInSteps(
  database: Database,
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

/** What a lookup of one transaction or receipt reads: all of its chunk, or the one alone where the chunk is large. */
export interface ReadItems<T> {
  readonly items: readonly T[];
  /** Index in the block of the first of them. */
  readonly from: number;
  /** Bytes of the chunk, of which the items are views. */
  readonly chunkBytes: number;
}

/** Bytes of a chunk that is decoded as a whole for one of its items; token transfers take 25 KB. */
export const SMALL_CHUNK_BYTES = 64 * 1024;

/** Transaction `index` of a block that has `count` of them, with its neighbours unless they are large. */
export function readTransactionsAt(
  database: Database,
  number: bigint,
  index: number,
  count: number,
): ReadItems<SentTransaction> {
  const { chunk, start, length } = chunkWith(index, count);
  const reader = readChunk(database, number, chunk);
  const chunkBytes = reader.length;
  if (chunkBytes <= SMALL_CHUNK_BYTES) {
    const items = Array.from({ length }, () => decodeEntry(reader, number));
    return { items, from: start, chunkBytes };
  }
  for (let before = start; before < index; before++) {
    reader.skip(SENDER_BYTES);
    reader.skip(reader.number());
  }
  return { items: [decodeEntry(reader, number)], from: index, chunkBytes };
}

/** Number of chunks for `count` transactions or receipts. */
export function chunksOf(count: number): number {
  return Math.ceil(count / CHUNK_TRANSACTIONS);
}

/** The chunk of item `index` of `count`, the index of its first item, and how many it has. */
export function chunkWith(
  index: number,
  count: number,
): { readonly chunk: number; readonly start: number; readonly length: number } {
  const chunk = Math.floor(index / CHUNK_TRANSACTIONS);
  const start = chunk * CHUNK_TRANSACTIONS;
  return { chunk, start, length: Math.min(CHUNK_TRANSACTIONS, count - start) };
}

export function chunkOf<T>(items: readonly T[], chunk: number): readonly T[] {
  return items.slice(chunk * CHUNK_TRANSACTIONS, (chunk + 1) * CHUNK_TRANSACTIONS);
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

function readChunk(database: Database, number: bigint, chunk: number): RecordReader {
  const key = bodyKey(number, chunk);
  const sealed = database.get(key);
  if (sealed === undefined) throw missing(nameOf(number));
  return new RecordReader(openEntry(key, sealed, () => nameOf(number)));
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
