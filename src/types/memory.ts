import type { Block } from "./block.ts";
import type { Receipt } from "./receipt.ts";
import type { Transaction } from "./transaction.ts";

/*
 * Approximate memory of decoded values in bytes, for limits on caches and queues. The figures come from the heap of a node
 * full of token transfers. Most of it is short arrays, each of which takes V8 far more than its content.
 */

/** A block without its receipts. */
export function memoryOfBlock({ header, transactions, ommers, withdrawals = [] }: Block): number {
  let bytes = withdrawals.length * WITHDRAWAL_BYTES;
  for (const { extraData } of [header, ...ommers]) bytes += HEADER_BYTES + extraData.length;
  return bytes + memoryOfTransactions(transactions);
}

/** Calldata is a view of the encoding; the entries of lists have arrays of their own. */
export function memoryOfTransactions(transactions: readonly Transaction[]): number {
  let bytes = 0;
  for (const { raw, accessList, authorizationList, blobVersionedHashes } of transactions) {
    bytes += TRANSACTION_BYTES + raw.length;
    bytes += authorizationList.length * AUTHORIZATION_BYTES + blobVersionedHashes.length * HASH_BYTES;
    for (const { storageKeys } of accessList) bytes += (1 + storageKeys.length) * HASH_BYTES;
  }
  return bytes;
}

/** Counts no further than LARGEST_COUNT, because a block can have a million logs. */
export function memoryOfReceipts(receipts: readonly Receipt[]): number {
  let bytes = 0;
  for (const { logs, revertReason } of receipts) {
    bytes += RECEIPT_BYTES + (revertReason?.length ?? 0);
    for (const { topics, data } of logs) {
      bytes += LOG_BYTES + topics.length * HASH_BYTES + data.length;
      if (bytes >= LARGEST_COUNT) return bytes;
    }
  }
  return bytes;
}

const HEADER_BYTES = 4096;
const WITHDRAWAL_BYTES = 1024;
const TRANSACTION_BYTES = 1300;
/** Bytes of a receipt with its bloom. */
const RECEIPT_BYTES = 700;
/** Bytes of a log with its address and the array of its data. */
const LOG_BYTES = 650;
const HASH_BYTES = 232;
const AUTHORIZATION_BYTES = 450;
/** Size at which counting stops: more than any cache of blocks has room for. */
const LARGEST_COUNT = 80 * 1024 * 1024;
