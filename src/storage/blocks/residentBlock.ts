import { expectDefined } from "../../primitives/assert.ts";
import type { Steps } from "../../primitives/steps.ts";
import { encodeBody, encodeRawBody, type StoredBlock } from "../../types/block.ts";
import { memoryOfBlock, memoryOfReceipts, memoryOfTransactions } from "../../types/memory.ts";
import type { Receipt } from "../../types/receipt.ts";
import type { SentTransaction } from "../../types/transaction.ts";
import type { Database } from "../database.ts";
import {
  CHUNK_TRANSACTIONS,
  type ReadItems,
  readRawTransactionsInSteps,
  readTransactions,
  readTransactionsAt,
} from "./bodyStore.ts";
import type { HeaderRecord } from "./headerStore.ts";
import { type PlacedReceipt, readReceipts, readReceiptsAt, readReceiptsInSteps } from "./receiptStore.ts";

/**
 * A block in memory. A block that was just committed is fully decoded; one from the disk reads all its transactions,
 * and all its receipts, on first access, and keeps them. A lookup of a single one reads its chunk.
 */
export interface ResidentBlock {
  readonly block: StoredBlock;
  /** Memory of what is decoded, roughly (memoryOfBlock, memoryOfReceipts). */
  readonly bytes: number;
  /** Whether its receipts are in memory. */
  readonly hasReceipts: boolean;
  transaction(index: number): SentTransaction;
  receipt(index: number): PlacedReceipt;
}

/** Wraps a decoded block. */
export function residentFromMemory(block: StoredBlock): ResidentBlock {
  const receiptAt = receiptLookup(() => block.receipts);
  return {
    block,
    bytes: memoryOfBlock(block) + memoryOfReceipts(block.receipts),
    hasReceipts: true,
    transaction: (index) => expectDefined(block.transactions[index], "a transaction of a resident block"),
    receipt: receiptAt,
  };
}

/** Wraps a block of which only the header has been read. `onRead` is called whenever it takes more memory than before. */
export function residentFromDisk(
  database: Database,
  record: HeaderRecord,
  onRead: () => void,
): ResidentBlock {
  const block = new BlockOnDisk(database, record, onRead);
  const receiptAt = receiptLookup(() => block.receipts);
  return {
    block,
    get bytes() {
      return block.bytesRead;
    },
    get hasReceipts() {
      return block.hasReadReceipts;
    },
    transaction: (index) => block.transactionAt(index),
    receipt: (index) => (block.hasReadReceipts ? receiptAt(index) : block.receiptAt(index)),
  };
}

/** A class, because object literals with getters would each have a hidden class of their own. */
class BlockOnDisk implements StoredBlock {
  readonly header: StoredBlock["header"];
  readonly hash: StoredBlock["hash"];
  readonly ommers: StoredBlock["ommers"];
  declare readonly withdrawals?: NonNullable<StoredBlock["withdrawals"]>;
  readonly totalDifficulty: bigint;
  readonly size: number;
  readonly #database: Database;
  readonly #transactionCount: number;
  readonly #onRead: () => void;
  #transactions: readonly SentTransaction[] | undefined;
  #receipts: readonly Receipt[] | undefined;
  readonly #transactionsFound = new FoundItems<SentTransaction>();
  readonly #receiptsFound = new FoundItems<PlacedReceipt>();
  readonly #ownBytes: number;
  #transactionBytes = 0;
  #receiptBytes = 0;

  constructor(database: Database, record: HeaderRecord, onRead: () => void) {
    this.header = record.header;
    this.hash = record.hash;
    this.ommers = record.ommers;
    if (record.withdrawals !== undefined) this.withdrawals = record.withdrawals;
    this.totalDifficulty = record.totalDifficulty;
    this.size = record.size;
    this.#database = database;
    this.#transactionCount = record.transactionCount;
    this.#onRead = onRead;
    this.#ownBytes = memoryOfBlock({ ...record, transactions: [] });
  }

  get transactions(): readonly SentTransaction[] {
    if (this.#transactions !== undefined) return this.#transactions;
    const transactions = readTransactions(this.#database, this.header.number, this.#transactionCount);
    this.#transactions = transactions;
    this.#transactionsFound.clear();
    this.#transactionBytes = memoryOfTransactions(transactions);
    this.#onRead();
    return transactions;
  }

  get receipts(): readonly Receipt[] {
    return (
      this.#receipts ??
      this.#keepReceipts(readReceipts(this.#database, this.header.number, this.#transactionCount))
    );
  }

  *bodyInSteps(): Steps<Uint8Array> {
    if (this.#transactions !== undefined) return encodeBody(this);
    const { number } = this.header;
    return encodeRawBody(
      yield* readRawTransactionsInSteps(this.#database, number, this.#transactionCount),
      this,
    );
  }

  *receiptsInSteps(): Steps<readonly Receipt[]> {
    if (this.#receipts !== undefined) return this.#receipts;
    const read = yield* readReceiptsInSteps(this.#database, this.header.number, this.#transactionCount);
    return this.#receipts ?? this.#keepReceipts(read);
  }

  transactionAt(index: number): SentTransaction {
    const known = this.#transactions?.[index] ?? this.#transactionsFound.at(index);
    if (known !== undefined) return known;
    const read = readTransactionsAt(this.#database, this.header.number, index, this.#transactionCount);
    this.#transactionsFound.keep(read);
    this.#transactionBytes += memoryOfTransactions(read.items) + read.chunkBytes;
    this.#onRead();
    return expectDefined(read.items[index - read.from], "a transaction of the block");
  }

  /** For a block whose receipts are not all in memory. */
  receiptAt(index: number): PlacedReceipt {
    const known = this.#receiptsFound.at(index);
    if (known !== undefined) return known;
    const read = readReceiptsAt(this.#database, this.header.number, index, this.#transactionCount);
    this.#receiptsFound.keep(read);
    this.#receiptBytes += memoryOfReceipts(read.items.map(({ receipt }) => receipt)) + read.chunkBytes;
    this.#onRead();
    return expectDefined(read.items[index - read.from], "a receipt of the block");
  }

  get hasReadReceipts(): boolean {
    return this.#receipts !== undefined;
  }

  get bytesRead(): number {
    return this.#ownBytes + this.#transactionBytes + this.#receiptBytes;
  }

  #keepReceipts(receipts: readonly Receipt[]): readonly Receipt[] {
    this.#receipts = receipts;
    this.#receiptsFound.clear();
    this.#receiptBytes = memoryOfReceipts(receipts);
    this.#onRead();
    return receipts;
  }
}

/** What lookups have read of a block: whole chunks, and single items of large ones. */
class FoundItems<T> {
  /** By the index of the first item. */
  readonly #items = new Map<number, readonly T[]>();

  at(index: number): T | undefined {
    const inChunk = index % CHUNK_TRANSACTIONS;
    return this.#items.get(index - inChunk)?.[inChunk] ?? this.#items.get(index)?.[0];
  }

  keep({ from, items }: ReadItems<T>): void {
    this.#items.set(from, items);
  }

  clear(): void {
    this.#items.clear();
  }
}

/** Looks up receipts by index; counts the logs before each once. */
function receiptLookup(receipts: () => readonly Receipt[]): (index: number) => PlacedReceipt {
  let logsBefore: Uint32Array | undefined;
  return (index) => {
    logsBefore ??= countLogsBefore(receipts());
    const receipt = expectDefined(receipts()[index], "a receipt of a resident block");
    return { receipt, firstLogIndex: logsBefore[index] ?? 0 };
  };
}

function countLogsBefore(receipts: readonly Receipt[]): Uint32Array {
  const counts = new Uint32Array(receipts.length);
  let total = 0;
  for (const [index, { logs }] of receipts.entries()) {
    counts[index] = total;
    total += logs.length;
  }
  return counts;
}
