import type { SentTransaction } from "../types/transaction.ts";

/** Source of a transaction: a JSON-RPC caller of this node, or a peer. */
export type TransactionOrigin = "local" | "remote";

export interface PoolEntry {
  readonly transaction: SentTransaction;
  readonly origin: TransactionOrigin;
  /** Ordered before all others and exempt from the price floors: local, or from a sender that the operator named. */
  readonly isPrioritized: boolean;
  readonly addedAtMs: number;
  /** Order of arrival in this process. */
  readonly sequence: number;
}

/** An entry as the pool keeps it (entryStore.ts). */
export interface StoredEntry extends PoolEntry {
  /** Hex of the transaction's hash, kept because every removal needs it. */
  readonly key: string;
  /** Hex of the sender. */
  readonly senderKey: string;
  /** Memory of its contents (occupancy.ts). */
  readonly occupiedBytes: number;
  /** Eviction score; only eviction.ts reads and writes it. */
  evictionScore: number;
}
