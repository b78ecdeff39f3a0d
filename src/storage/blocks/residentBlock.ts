import { expectDefined } from "../../primitives/assert.ts";
import type { StoredBlock } from "../../types/block.ts";
import type { Receipt } from "../../types/receipt.ts";
import type { SentTransaction } from "../../types/transaction.ts";
import type { Database } from "../database.ts";
import { readTransaction, readTransactions } from "./bodyStore.ts";
import type { HeaderRecord } from "./headerStore.ts";
import { type PlacedReceipt, readReceipt, readReceipts } from "./receiptStore.ts";

/**
 * A block in memory. One that was just committed has everything decoded; one that comes from the disk reads its
 * transactions and its receipts, each all at once, when somebody looks at them, and keeps them. A single transaction of
 * it is read alone.
 */
export interface ResidentBlock {
  readonly block: StoredBlock;
  /** Whether nothing has to be read for its receipts. */
  readonly hasReceipts: boolean;
  transaction(index: number): SentTransaction;
  receipt(index: number): PlacedReceipt;
}

/** A block that is decoded already. */
export function residentFromMemory(block: StoredBlock): ResidentBlock {
  const receiptAt = receiptLookup(() => block.receipts);
  return {
    block,
    hasReceipts: true,
    transaction: (index) => expectDefined(block.transactions[index], "a transaction of a resident block"),
    receipt: receiptAt,
  };
}

/** A block of which only the header has been read. */
export function residentFromDisk(database: Database, record: HeaderRecord): ResidentBlock {
  const block = new BlockOnDisk(database, record);
  const { number } = record.header;
  const receiptAt = receiptLookup(() => block.receipts);
  return {
    block,
    get hasReceipts() {
      return block.hasReadReceipts;
    },
    transaction: (index) => block.transactionsRead?.[index] ?? readTransaction(database, number, index),
    receipt: (index) => (block.hasReadReceipts ? receiptAt(index) : readReceipt(database, number, index)),
  };
}

/** A class, because objects with getters of their own would each have a shape of their own. */
class BlockOnDisk implements StoredBlock {
  readonly header: StoredBlock["header"];
  readonly hash: StoredBlock["hash"];
  readonly ommers: StoredBlock["ommers"];
  declare readonly withdrawals?: NonNullable<StoredBlock["withdrawals"]>;
  readonly totalDifficulty: bigint;
  readonly size: number;
  readonly #database: Database;
  readonly #transactionCount: number;
  #transactions: readonly SentTransaction[] | undefined;
  #receipts: readonly Receipt[] | undefined;

  constructor(database: Database, record: HeaderRecord) {
    this.header = record.header;
    this.hash = record.hash;
    this.ommers = record.ommers;
    if (record.withdrawals !== undefined) this.withdrawals = record.withdrawals;
    this.totalDifficulty = record.totalDifficulty;
    this.size = record.size;
    this.#database = database;
    this.#transactionCount = record.transactionCount;
  }

  get transactions(): readonly SentTransaction[] {
    this.#transactions ??= readTransactions(this.#database, this.header.number, this.#transactionCount);
    return this.#transactions;
  }

  get receipts(): readonly Receipt[] {
    this.#receipts ??= readReceipts(this.#database, this.header.number, this.#transactionCount);
    return this.#receipts;
  }

  /** Those in memory. */
  get transactionsRead(): readonly SentTransaction[] | undefined {
    return this.#transactions;
  }

  get hasReadReceipts(): boolean {
    return this.#receipts !== undefined;
  }
}

/** Finds receipts among many; the counts of logs before each are added up once. */
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
