import type { SentTransaction } from "../types/transaction.ts";

/** Who gave us a transaction: one of our own callers over JSON-RPC, or a peer. */
export type TransactionOrigin = "local" | "remote";

export interface PoolEntry {
  readonly transaction: SentTransaction;
  readonly origin: TransactionOrigin;
  /** Goes before all others and below the price floors: a local caller's, or a sender the operator named. */
  readonly isPrioritized: boolean;
  readonly addedAtMs: number;
  /** Order of arrival in this process. */
  readonly sequence: number;
}

/** An entry as the parts of the pool pass it around. */
export interface PooledEntry extends PoolEntry {
  /** Hex of the transaction's hash, kept because every departure needs it. */
  readonly key: string;
  /** Hex of the sender. */
  readonly senderKey: string;
  /** What eviction thinks of it; see eviction.ts, which alone reads and writes it. */
  evictionScore: number;
}
