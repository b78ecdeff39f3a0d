import { present } from "../primitives/assert.ts";
import type { StoredBlock } from "../types/block.ts";
import type { Receipt } from "../types/receipt.ts";
import type { SentTransaction } from "../types/transaction.ts";
import { readTransaction, readTransactions } from "./bodyStore.ts";
import type { Database } from "./database.ts";
import type { HeaderRecord } from "./headerStore.ts";
import { type PlacedReceipt, readReceipt, readReceipts } from "./receiptStore.ts";

/**
 * A block in memory. One that was just committed has everything decoded; one that comes from the disk reads its
 * transactions and its receipts, each all at once, when somebody looks at them, and keeps them. A single transaction of
 * it is read alone.
 */
export interface ResidentBlock {
  readonly block: StoredBlock;
  transaction(index: number): SentTransaction;
  receipt(index: number): PlacedReceipt;
}

/** A block that is decoded already. */
export function residentFromMemory(block: StoredBlock): ResidentBlock {
  const receiptAt = receiptLookup(() => block.receipts);
  return {
    block,
    transaction: (index) => present(block.transactions[index], "a transaction of a resident block"),
    receipt: receiptAt,
  };
}

/** A block of which only the header has been read. */
export function residentFromDisk(database: Database, record: HeaderRecord): ResidentBlock {
  const { transactionCount, ...rest } = record;
  const { number } = record.header;
  let transactions: readonly SentTransaction[] | undefined;
  let receipts: readonly Receipt[] | undefined;
  const readAllReceipts = (): readonly Receipt[] => {
    receipts ??= readReceipts(database, number, transactionCount);
    return receipts;
  };
  const receiptAt = receiptLookup(readAllReceipts);
  return {
    block: {
      ...rest,
      get transactions() {
        transactions ??= readTransactions(database, number, transactionCount);
        return transactions;
      },
      get receipts() {
        return readAllReceipts();
      },
    },
    transaction: (index) => transactions?.[index] ?? readTransaction(database, number, index),
    receipt: (index) => (receipts === undefined ? readReceipt(database, number, index) : receiptAt(index)),
  };
}

/** Finds receipts among many; the counts of logs before each are added up once. */
function receiptLookup(receipts: () => readonly Receipt[]): (index: number) => PlacedReceipt {
  let logsBefore: Uint32Array | undefined;
  return (index) => {
    logsBefore ??= countLogsBefore(receipts());
    const receipt = present(receipts()[index], "a receipt of a resident block");
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
