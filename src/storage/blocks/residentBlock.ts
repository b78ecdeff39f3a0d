import { expectDefined } from "../../primitives/assert.ts";
import { joinBytes } from "../../primitives/hex.ts";
import type { Steps } from "../../primitives/steps.ts";
import { encodeRawBodyInSteps, type StoredBlock } from "../../types/block.ts";
import { memoryOfBlock, memoryOfReceipts, memoryOfTransactions } from "../../types/memory.ts";
import type { Receipt } from "../../types/receipt.ts";
import type { SentTransaction } from "../../types/transaction.ts";
import type { Database } from "../database.ts";
import { openTransactions, readHashes, readRawTransactionsInSteps, readTransactions } from "./bodyStore.ts";
import { CHUNK_TRANSACTIONS, type OpenedChunk } from "./chunks.ts";
import type { HeaderRecord } from "./headerStore.ts";
import { openReceipts, type PlacedReceipt, readReceipts, readReceiptsInSteps } from "./receiptStore.ts";

/**
 * A block in memory. A block that was just committed is fully decoded; one from the disk reads all its transactions, and all
 * its receipts, on first access, and keeps them. A lookup of a single one reads its chunk and decodes only that item.
 */
export interface ResidentBlock {
  readonly block: StoredBlock;
  /** Approximate memory of everything decoded (memoryOfBlock, memoryOfReceipts). */
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

/** It is a class, because object literals with getters would each have a hidden class of their own. */
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
  /** Memory of everything except what lookups found. */
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
    this.#transactionsFound = new FoundItems(
      (chunk) => openTransactions(database, number, chunk),
      (transaction) => memoryOfTransactions([transaction]),
      onRead,
    );
    this.#receiptsFound = new FoundItems(
      (chunk) => openReceipts(database, number, chunk),
      ({ receipt }) => memoryOfReceipts([receipt]),
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

  *readHashes(): Generator<Uint8Array, void> {
    if (this.#transactions !== undefined) yield joinBytes(this.#transactions.map(({ hash }) => hash));
    else yield* readHashes(this.#database, this.header.number, this.#transactionCount);
  }

  addHeldBytes(bytes: number): void {
    this.#wholeBytes += bytes;
    this.#onRead();
  }

  readTransaction(index: number): SentTransaction | undefined {
    return index < this.#transactionCount ? this.transactionAt(index) : undefined;
  }

  /** Returns the transaction at an index below the count. */
  transactionAt(index: number): SentTransaction {
    return this.#transactions?.[index] ?? this.#transactionsFound.at(index);
  }

  /** Returns the receipt at an index, in a block whose receipts are not all in memory. */
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

/** What lookups have read of a block: the chunks that they opened, and single items of them. */
class FoundItems<T> {
  readonly #open: (chunk: number) => OpenedChunk<T>;
  readonly #memoryOf: (item: T) => number;
  readonly #onRead: () => void;
  readonly #chunks = new Map<number, OpenedChunk<T>>();
  #bytes = 0;

  /** `onRead` is called whenever there is more. */
  constructor(open: (chunk: number) => OpenedChunk<T>, memoryOf: (item: T) => number, onRead: () => void) {
    this.#open = open;
    this.#memoryOf = memoryOf;
    this.#onRead = onRead;
  }

  get bytes(): number {
    return this.#bytes;
  }

  at(index: number): T {
    const inChunk = index % CHUNK_TRANSACTIONS;
    const chunk = this.#chunkAt((index - inChunk) / CHUNK_TRANSACTIONS);
    return chunk.known(inChunk) ?? this.#read(chunk, inChunk);
  }

  clear(): void {
    this.#chunks.clear();
    this.#bytes = 0;
  }

  #chunkAt(at: number): OpenedChunk<T> {
    const known = this.#chunks.get(at);
    if (known !== undefined) return known;
    const chunk = this.#open(at);
    this.#chunks.set(at, chunk);
    this.#bytes += chunk.bytes;
    return chunk;
  }

  #read(chunk: OpenedChunk<T>, index: number): T {
    const item = chunk.read(index);
    this.#bytes += this.#memoryOf(item);
    this.#onRead();
    return item;
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
