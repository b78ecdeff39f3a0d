import { expectDefined } from "../../primitives/assert.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Steps } from "../../primitives/steps.ts";
import { encodeRawBodyInSteps, type StoredBlock } from "../../types/block.ts";
import { memoryOfBlock, memoryOfReceipts, memoryOfTransactions } from "../../types/memory.ts";
import type { Receipt } from "../../types/receipt.ts";
import type { SentTransaction } from "../../types/transaction.ts";
import type { Database } from "../database.ts";
import { readHashes, readRawTransactionsInSteps, readTransactions, readTransactionsAt } from "./bodyStore.ts";
import { CHUNK_TRANSACTIONS, type ReadItems } from "./chunks.ts";
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
  readonly #transactionsFound: FoundItems<SentTransaction>;
  readonly #receiptsFound: FoundItems<PlacedReceipt>;
  /** Memory of all but what lookups found. */
  #wholeBytes: number;

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
    this.#wholeBytes = memoryOfBlock({ ...record, transactions: [] });
    const { number } = record.header;
    const count = record.transactionCount;
    this.#transactionsFound = new FoundItems(
      (index) => readTransactionsAt(database, number, index, count),
      memoryOfTransactions,
      onRead,
    );
    this.#receiptsFound = new FoundItems(
      (index) => readReceiptsAt(database, number, index, count),
      (placed) => memoryOfReceipts(placed.map(({ receipt }) => receipt)),
      onRead,
    );
  }

  get transactions(): readonly SentTransaction[] {
    if (this.#transactions !== undefined) return this.#transactions;
    const transactions = readTransactions(this.#database, this.header.number, this.#transactionCount);
    this.#transactions = transactions;
    this.#transactionsFound.clear();
    this.#wholeBytes += memoryOfTransactions(transactions);
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
    const { number } = this.header;
    const raws =
      this.#transactions?.map(({ raw }) => raw) ??
      (yield* readRawTransactionsInSteps(this.#database, number, this.#transactionCount));
    return yield* encodeRawBodyInSteps(raws, this);
  }

  *receiptsInSteps(): Steps<readonly Receipt[]> {
    if (this.#receipts !== undefined) return this.#receipts;
    const read = yield* readReceiptsInSteps(this.#database, this.header.number, this.#transactionCount);
    return this.#receipts ?? this.#keepReceipts(read);
  }

  get transactionCount(): number {
    return this.#transactionCount;
  }

  *readHashes(): Generator<readonly Hash[], void> {
    if (this.#transactions !== undefined) yield this.#transactions.map(({ hash }) => hash);
    else yield* readHashes(this.#database, this.header.number, this.#transactionCount);
  }

  addHeldBytes(bytes: number): void {
    this.#wholeBytes += bytes;
    this.#onRead();
  }

  transactionAt(index: number): SentTransaction {
    return this.#transactions?.[index] ?? this.#transactionsFound.at(index);
  }

  /** For a block whose receipts are not all in memory. */
  receiptAt(index: number): PlacedReceipt {
    return this.#receiptsFound.at(index);
  }

  get hasReadReceipts(): boolean {
    return this.#receipts !== undefined;
  }

  get bytesRead(): number {
    return this.#wholeBytes + this.#transactionsFound.bytes + this.#receiptsFound.bytes;
  }

  #keepReceipts(receipts: readonly Receipt[]): readonly Receipt[] {
    this.#receipts = receipts;
    this.#receiptsFound.clear();
    this.#wholeBytes += memoryOfReceipts(receipts);
    this.#onRead();
    return receipts;
  }
}

/** What lookups have read of a block: whole chunks, and single items of large ones. */
class FoundItems<T> {
  readonly #readAt: (index: number) => ReadItems<T>;
  readonly #memoryOf: (items: readonly T[]) => number;
  readonly #onRead: () => void;
  /** By the index of the first item. */
  readonly #items = new Map<number, readonly T[]>();
  #bytes = 0;

  /** `onRead` is called whenever there is more. */
  constructor(
    readAt: (index: number) => ReadItems<T>,
    memoryOf: (items: readonly T[]) => number,
    onRead: () => void,
  ) {
    this.#readAt = readAt;
    this.#memoryOf = memoryOf;
    this.#onRead = onRead;
  }

  get bytes(): number {
    return this.#bytes;
  }

  at(index: number): T {
    const inChunk = index % CHUNK_TRANSACTIONS;
    const known = this.#items.get(index - inChunk)?.[inChunk] ?? this.#items.get(index)?.[0];
    return known ?? this.#read(index);
  }

  clear(): void {
    this.#items.clear();
    this.#bytes = 0;
  }

  #read(index: number): T {
    const { items, from, chunkBytes } = this.#readAt(index);
    this.#items.set(from, items);
    this.#bytes += this.#memoryOf(items) + chunkBytes;
    this.#onRead();
    return expectDefined(items[index - from], "a transaction or receipt of the block");
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
