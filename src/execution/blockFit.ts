import type { SentTransaction } from "../types/transaction.ts";
import { TRANSACTION_GAS } from "../types/transactionCount.ts";

/** Whether a transaction fits into a block, or else whether the block has room for others. */
export type Fit = "fits" | "tooLarge" | "blockIsFull";

/** Gas and bytes used by a block in progress. */
interface BlockUse {
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Bytes of transactions. */
  readonly bytes: number;
}

export interface BlockRoom {
  /** A block at least this full ends at the first transaction that does not fit. */
  readonly minOccupancyRatio: number;
  /** Maximum bytes of transactions. */
  readonly maxBytes: number;
}

/** A transaction with more bytes than a block may have fits into an empty block, or it would never be mined. */
export function fits(
  transaction: SentTransaction,
  block: BlockUse,
  { minOccupancyRatio, maxBytes }: BlockRoom,
): Fit {
  const left = block.gasLimit - block.gasUsed;
  const leftBytes = maxBytes - block.bytes;
  if (transaction.gasLimit <= left && (transaction.raw.length <= leftBytes || block.bytes === 0))
    return "fits";
  const isWellFilled =
    Number(block.gasUsed) >= Number(block.gasLimit) * minOccupancyRatio ||
    block.bytes >= maxBytes * minOccupancyRatio;
  const isFull = left < TRANSACTION_GAS || leftBytes < SHORTEST_TRANSACTION_BYTES;
  return isWellFilled || isFull ? "blockIsFull" : "tooLarge";
}

/** Lower bound for a signed transaction: a 64-byte signature, an address and some small numbers. */
const SHORTEST_TRANSACTION_BYTES = 90;
