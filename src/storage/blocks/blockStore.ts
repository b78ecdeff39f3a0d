import { assert } from "../../primitives/assert.ts";
import { BoundedCache } from "../../primitives/boundedCache.ts";
import type { Hash } from "../../primitives/hash.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { atOnce, type Steps } from "../../primitives/steps.ts";
import type { NamedHeader, StoredBlock } from "../../types/block.ts";
import type { Batch } from "../batch.ts";
import { damaged, missing, readUint32 } from "../checksum.ts";
import { type HeadPointer, putCommitRecord, putHead, readHead } from "../commitRecord.ts";
import type { Database } from "../database.ts";
import { type HistoryStart, isWithin, readHistoryStart } from "../historyStart.ts";
import { commitKey } from "../keys.ts";
import { deleteTransactions, putTransactionsInSteps, readTransactions } from "./bodyStore.ts";
import {
  deleteHeader,
  type HeaderRecord,
  isHeaderAlone,
  putHeader,
  readBlockNumber,
  readEncodedHeader,
  readHeader,
} from "./headerStore.ts";
import { deleteReceipts, putReceiptsInSteps } from "./receiptStore.ts";
import { type ResidentBlock, residentFromDisk, residentFromMemory } from "./residentBlock.ts";
import { StoredTransaction } from "./storedTransaction.ts";
import {
  deleteTransactionPlace,
  putTransactionPlace,
  readTransactionPlace,
  type TransactionPlace,
} from "./transactionIndex.ts";

/** Bounds of the caches. */
export interface BlockStoreLimits {
  readonly headers: number;
  /** Memory of whole blocks in bytes: some 2.1 KB for a transfer with its receipt, 3.6 KB for one of a token (types/memory.ts). */
  readonly blockBytes: number;
}

/** Room for the newest block, and some before it unless they are full. A larger block is read from the disk. */
export const BLOCK_STORE_LIMITS: BlockStoreLimits = { headers: 4096, blockBytes: 64 * 1024 * 1024 };

/** Number of cached places of transactions: clients request a receipt, a transaction and its trace one after another. */
const PLACES = 4096;

interface KnownPlace extends TransactionPlace {
  readonly hash: Hash;
}

/** A small integer is the fastest key; hashes that share it replace each other. */
function placeKey(hash: Hash): number {
  return readUint32(hash, 0) >>> 2;
}

/** No chain is longer; RPC callers may ask for any number. */
const HIGHEST_NUMBER = BigInt(Number.MAX_SAFE_INTEGER);

/** Index entries per step: some 0.3 ms. */
const STEP_PLACES = 256;

/**
 * The committed blocks: headers, bodies, receipts and the indexes by hash.
 *
 *   commit:  put(batch, block)  …others add to the batch…  complete(batch, block)  database.write(batch)  remember(block)
 *   rewind:  delete(batch, number) from the head down, moveHead(batch, below), write, forgetAbove(number)
 *   read:    number -> cache -> database; hash -> index entry -> number
 *
 * Invariants: every value read has passed its checksum; a block up to the head that cannot be found is damage, never an
 * absent block, unless it lies before the start of the history (historyStart.ts); nothing is cached before it is durable.
 * The chain decides what to commit and moves the head. Of blocks before the start of the history only the headers are read,
 * whether or not the rest is already removed from the disk.
 */
export class BlockStore {
  private readonly database: Database;
  private readonly headers: BoundedCache<bigint, HeaderRecord>;
  private readonly blocks: BoundedCache<bigint, ResidentBlock>;
  private readonly places: BoundedCache<number, KnownPlace>;
  /** Whether the head pointer was read before. */
  private hasHead = false;
  /** The start of the history; undefined until it is read. */
  private start: HistoryStart | undefined;

  constructor(limits: BlockStoreLimits, { database }: { readonly database: Database }) {
    this.database = database;
    this.headers = new BoundedCache(limits.headers);
    this.blocks = new BoundedCache(limits.blockBytes);
    this.places = new BoundedCache(PLACES);
  }

  /** Adds everything that the database stores of a block to its one batch. */
  put(batch: Batch, block: StoredBlock): void {
    atOnce(this.putInSteps(batch, block));
  }

  *putInSteps(batch: Batch, block: StoredBlock): Steps<void> {
    const { transactions, receipts } = block;
    const { number } = block.header;
    assert(transactions.length === receipts.length, "each transaction has a receipt");
    putHeader(batch, block);
    yield* putTransactionsInSteps(batch, number, transactions);
    yield* putReceiptsInSteps(batch, number, receipts);
    for (const [index, { hash }] of transactions.entries()) {
      if (index > 0 && index % STEP_PLACES === 0) yield;
      putTransactionPlace(batch, hash, { blockNumber: number, index });
    }
  }

  /** Completes the batch of a block: commit record and head pointer. Call it last, after all other parts. */
  complete(batch: Batch, { header, hash }: StoredBlock): void {
    putCommitRecord(batch, { number: header.number, hash, stateRoot: header.stateRoot });
  }

  /** Caches a decoded block once its batch is durable: the newest block is read most. */
  remember(block: StoredBlock): void {
    const { header, hash, totalDifficulty, size, transactions, ommers, withdrawals } = block;
    const record = { header, hash, totalDifficulty, size, transactionCount: transactions.length, ommers };
    this.headers.set(header.number, withdrawals === undefined ? record : { ...record, withdrawals }, 1);
    this.keep(header.number, residentFromMemory(block));
  }

  /** Deletes a block with its commit record. */
  delete(batch: Batch, number: bigint): void {
    const record = this.record(number);
    assert(record !== undefined, "a block that is deleted exists");
    for (const { hash } of readTransactions(this.database, number, record.transactionCount))
      deleteTransactionPlace(batch, hash);
    deleteTransactions(batch, number, record.transactionCount);
    deleteReceipts(batch, number, record.transactionCount);
    deleteHeader(batch, record);
    batch.delete(commitKey(number));
  }

  /** Makes a stored block the head, after the blocks above it are deleted in the same batch. */
  moveHead(batch: Batch, { header, hash }: NamedHeader): void {
    putHead(batch, { number: header.number, hash });
  }

  /** Drops blocks above `number` from the caches, once a rewind is durable. */
  forgetAbove(number: bigint): void {
    this.headers.forget((key) => key > number);
    this.blocks.forget((key) => key > number);
    this.places.forget((_, { blockNumber }) => blockNumber > number);
  }

  /** Where the history begins, according to these reads of the database. */
  get historyStart(): HistoryStart {
    this.start ??= readHistoryStart(this.database);
    return this.start;
  }

  /** Reads the start of the history again, once a later one is durable, and drops what lies before it from the caches. */
  reloadHistoryStart(): void {
    const before = this.start;
    this.start = readHistoryStart(this.database);
    if (before?.blocks === this.start.blocks) return;
    const { start } = this;
    this.blocks.forget((number) => !isWithin(start, number));
    this.places.forget((_, { blockNumber }) => !isWithin(start, blockNumber));
  }

  /** The newest block; undefined before genesis is committed. */
  head(): NamedHeader | undefined {
    const pointer = this.headPointer();
    if (pointer === undefined) return undefined;
    const record = this.record(pointer.number);
    if (record === undefined || !equalBytes(record.hash, pointer.hash))
      throw damaged("the head pointer", `it names another block than the one stored as ${pointer.number}`);
    return record;
  }

  header(number: bigint): HeaderRecord | undefined {
    return this.record(number);
  }

  /** The RLP of a header, neither decoded nor cached: peers fetch long runs of them. */
  encodedHeader(number: bigint): Uint8Array | undefined {
    if (number < 0n || number > HIGHEST_NUMBER) return undefined;
    const found = readEncodedHeader(this.database, number);
    // The block was committed since then, or does not exist.
    return found ?? (this.recordUpToHead(number) && readEncodedHeader(this.database, number));
  }

  headerByHash(hash: Hash): NamedHeader | undefined {
    const number = readBlockNumber(this.database, hash);
    return number === undefined ? undefined : this.recordNamed(number, hash);
  }

  /**
   * Reads transactions and receipts on first access: the header's fields cost no more than the header. Also undefined when
   * only the header is stored.
   */
  block(number: bigint): StoredBlock | undefined {
    const record = this.record(number);
    return record === undefined ? undefined : this.blockOf(record);
  }

  blockByHash(hash: Hash): StoredBlock | undefined {
    const number = readBlockNumber(this.database, hash);
    return number === undefined ? undefined : this.blockOf(this.recordNamed(number, hash));
  }

  /** Whether the receipts of a block are in memory: reading those of a full block takes a tenth of a second. */
  hasReceiptsInMemory(number: bigint): boolean {
    return this.blocks.get(number)?.hasReceipts === true;
  }

  transactionByHash(hash: Hash): StoredTransaction | undefined {
    const key = placeKey(hash);
    const known = this.places.get(key);
    if (known !== undefined && equalBytes(known.hash, hash)) return this.transactionAt(known, hash);
    const place = readTransactionPlace(this.database, hash);
    if (place === undefined || !isWithin(this.historyStart, place.blockNumber)) return undefined;
    const stored = this.transactionAt(place, hash);
    // The hash is copied, so that it keeps no block in memory.
    this.places.set(key, { ...place, hash: new Uint8Array(hash) as Hash }, 1);
    return stored;
  }

  private transactionAt({ blockNumber, index }: TransactionPlace, hash: Hash): StoredTransaction {
    const record = this.record(blockNumber);
    if (record === undefined) throw missing(`block ${blockNumber}, which holds transaction ${toHex(hash)},`);
    const resident = this.resident(record);
    const transaction = resident.transaction(index);
    if (!equalBytes(transaction.hash, hash))
      throw damaged(`the index entry of transaction ${toHex(hash)}`, "another transaction is at that place");
    return new StoredTransaction(transaction, index, resident);
  }

  private record(number: bigint): HeaderRecord | undefined {
    if (number < 0n || number > HIGHEST_NUMBER) return undefined;
    const known = this.headers.get(number);
    if (known !== undefined) return known;
    const record = readHeader(this.database, number) ?? this.recordUpToHead(number);
    if (record === undefined) return undefined;
    this.headers.set(number, record, 1);
    return record;
  }

  /** A head pointer that existed before and is no longer found is damage: LevelDB does not find the keys of a corrupt block. */
  private headPointer(): HeadPointer | undefined {
    const pointer = readHead(this.database);
    if (pointer !== undefined) this.hasHead = true;
    else if (this.hasHead) throw missing("the head pointer");
    return pointer;
  }

  /** A missing block up to the head is damage, unless it was committed between the first read and that of the head. */
  private recordUpToHead(number: bigint): HeaderRecord | undefined {
    const head = this.headPointer();
    if (head === undefined || number > head.number) return undefined;
    const record = readHeader(this.database, number);
    if (record !== undefined) return record;
    if (number > 0n && number < this.historyStart.headers) return undefined;
    throw missing(`block ${number}`);
  }

  /** The header that an index entry refers to. */
  private recordNamed(number: bigint, hash: Hash): HeaderRecord {
    const record = this.record(number);
    if (record === undefined) throw missing(`block ${number} (${toHex(hash)})`);
    if (!equalBytes(record.hash, hash))
      throw damaged(`the index entry of block ${toHex(hash)}`, `block ${number} has another hash`);
    return record;
  }

  /** The block of a record; undefined for a header without its block. */
  private blockOf(record: HeaderRecord): StoredBlock | undefined {
    const isWhole = !isHeaderAlone(record) && isWithin(this.historyStart, record.header.number);
    return isWhole ? this.resident(record).block : undefined;
  }

  private resident(record: HeaderRecord): ResidentBlock {
    const { number } = record.header;
    const known = this.blocks.get(number);
    if (known !== undefined) return known;
    // A block of which nothing is read costs as much memory as its header, which is kept anyway.
    const block = residentFromDisk(this.database, record, () => {
      const kept = this.blocks.get(number);
      // A kept block is only weighed again: it leaves the cache in a rewind, but its header may leave the other cache before it.
      if (kept === block || (kept === undefined && this.isStored(record))) this.keep(number, block);
    });
    return block;
  }

  /** Whether a block that was read is still the one of its number: a rewind may have removed it, or its body. */
  private isStored(record: HeaderRecord): boolean {
    const { number } = record.header;
    return this.headers.get(number) === record && isWithin(this.historyStart, number);
  }

  private keep(number: bigint, block: ResidentBlock): void {
    this.blocks.set(number, block, block.bytes);
  }
}
