import { asHash, type Hash } from "../primitives/hash.ts";
import type { Batch } from "./batch.ts";
import { RecordReader, RecordWriter } from "./blocks/byteRecord.ts";
import { openEntry, sealEntry, sealOf } from "./checksum.ts";
import type { DatabaseReads } from "./database.ts";
import { commitKey, KEY_PREFIXES, metaKey } from "./keys.ts";

/** The newest block of the chain, as recorded in the database. */
export interface HeadPointer {
  readonly number: bigint;
  readonly hash: Hash;
}

/**
 * What a block's batch contained, so that a start can verify the newest blocks (verifyNewest.ts). Counts only the parts
 * that can be listed again from the block's number.
 */
export interface CommitRecord extends HeadPointer {
  readonly stateRoot: Hash;
  /** Header, body, receipts and index entries. */
  readonly block: Tally;
  /** Trie pages. */
  readonly trie: Tally;
}

/** Count of entries and the sum of their checksums modulo 2^32, which does not depend on their order. */
export interface Tally {
  readonly count: number;
  readonly checksum: number;
}

/**
 * Completes a block's batch: counts its entries, adds the commit record and moves the head pointer. Call it last.
 * Costs a few nanoseconds an entry, because each value already carries its checksum.
 */
export function putCommitRecord(batch: Batch, block: HeadPointer & { readonly stateRoot: Hash }): void {
  const tallies = { block: new RunningTally(), trie: new RunningTally() };
  for (const { key, value } of batch.operations) {
    const part = value === undefined ? undefined : PARTS[key[0] ?? 0];
    if (value !== undefined && part !== undefined) tallies[part].add(value);
  }
  const key = commitKey(block.number);
  const writer = new RecordWriter(100);
  writer.fixed(block.hash);
  writer.fixed(block.stateRoot);
  for (const { count, checksum } of [tallies.block, tallies.trie]) {
    writer.number(count);
    writer.number(checksum);
  }
  batch.put(key, sealEntry(key, writer.finish()));
  putHead(batch, block);
}

/** Undefined when no block of that number was committed. */
export function readCommitRecord(database: DatabaseReads, number: bigint): CommitRecord | undefined {
  const key = commitKey(number);
  const sealed = database.get(key);
  if (sealed === undefined) return undefined;
  const reader = new RecordReader(openEntry(key, sealed, () => `the commit record of block ${number}`));
  return {
    number,
    hash: asHash(reader.fixed(32)),
    stateRoot: asHash(reader.fixed(32)),
    block: { count: reader.number(), checksum: reader.number() },
    trie: { count: reader.number(), checksum: reader.number() },
  };
}

/** Moves the head pointer. A rewind does only this, because the lower block already has its commit record. */
export function putHead(batch: Batch, { number, hash }: HeadPointer): void {
  const writer = new RecordWriter(40);
  writer.number(Number(number));
  writer.fixed(hash);
  batch.put(HEAD_KEY, sealEntry(HEAD_KEY, writer.finish()));
}

/** Undefined in a database without a genesis block. */
export function readHead(database: DatabaseReads): HeadPointer | undefined {
  const sealed = database.get(HEAD_KEY);
  if (sealed === undefined) return undefined;
  const reader = new RecordReader(openEntry(HEAD_KEY, sealed, "the head pointer"));
  return { number: BigInt(reader.number()), hash: asHash(reader.fixed(32)) };
}

/** Sums up entries, both when they are written and when they are verified. */
export class RunningTally implements Tally {
  count = 0;
  checksum = 0;

  add(sealed: Uint8Array): void {
    this.count++;
    this.checksum = (this.checksum + sealOf(sealed)) >>> 0;
  }
}

const HEAD_KEY = metaKey("head");

/** Which part of a block's batch an entry belongs to, by the first byte of its key. */
const PARTS: Readonly<Record<number, "block" | "trie">> = {
  [KEY_PREFIXES.header]: "block",
  [KEY_PREFIXES.blockNumber]: "block",
  [KEY_PREFIXES.body]: "block",
  [KEY_PREFIXES.receipts]: "block",
  [KEY_PREFIXES.transaction]: "block",
  [KEY_PREFIXES.trie]: "trie",
};
