import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Outcome } from "../primitives/outcome.ts";
import type { SentTransaction, Transaction } from "../types/transaction.ts";
import type { PoolRejectionCode } from "./rejection.ts";

/** The transactions waiting for a block: per-sender queues, bounded by count and bytes. */
export interface TxPool {
  /** Judges and keeps a transaction whose sender is known; `origin` tells those of our own callers from peers'. */
  add(transaction: SentTransaction, origin: TransactionOrigin): Outcome<PoolEntry, PoolRejectionCode>;
  get(hash: Hash): PoolEntry | undefined;
  /** All entries, pending and queued, in no particular order. */
  entries(): Iterable<PoolEntry>;
  /** First nonce that the sender has not used on chain or in an unbroken run of pooled transactions. */
  nextNonce(sender: Address): bigint;
  /**
   * Pending transactions in the order a block should take them: by effective priority fee then arrival, each sender in
   * nonce order. The selection lives on while it is being read: what arrives meanwhile may still come.
   */
  select(baseFeePerGas: bigint | undefined): Selection;
  /** Forgets a transaction that can never be included (found invalid while building). */
  drop(hash: Hash, reason: string): void;
  /** Tells the pool of new blocks: mined transactions leave, nonces and balances are judged anew. */
  headChanged(change: {
    readonly added: readonly { readonly transactions: readonly SentTransaction[] }[];
    readonly removed: readonly { readonly transactions: readonly SentTransaction[] }[];
  }): void;
  readonly statistics: PoolStatistics;
  onAdded(listener: (entry: PoolEntry) => void): () => void;
  onDropped(listener: (entry: PoolEntry, reason: string) => void): () => void;
}

export type TransactionOrigin = "local" | "remote";

export interface PoolEntry {
  readonly transaction: SentTransaction;
  readonly origin: TransactionOrigin;
  readonly addedAtMs: number;
  /** Order of arrival in this process. */
  readonly sequence: number;
}

/** Reader of pending transactions for one block. */
export interface Selection {
  /** Best transaction not yet taken, or undefined when there is none now. */
  next(): SentTransaction | undefined;
  /** The one just returned cannot go in: leave out the rest of its sender for this block. */
  skipSender(): void;
}

export interface PoolStatistics {
  readonly pending: number;
  readonly queued: number;
  readonly local: number;
  readonly remote: number;
  readonly bytes: number;
}

/** What the pool needs to know of the chain's head; the node hands it over. */
export interface PoolChainView {
  nonce(sender: Address): bigint;
  balanceWei(sender: Address): bigint;
  /** True when the sender has code that is not an EIP-7702 delegation. */
  isContract(sender: Address): boolean;
  readonly headGasLimit: bigint;
  /** Base fee of the next block, or undefined before London. */
  readonly nextBaseFeePerGas: bigint | undefined;
  /** Which transaction types and limits hold for the next block. */
  readonly rules: PoolRules;
}

export interface PoolRules {
  readonly chainId: bigint;
  readonly acceptedTypes: ReadonlySet<Transaction["type"]>;
  readonly hasBaseFee: boolean;
  readonly isZeroBaseFee: boolean;
  /** Largest init code in bytes from Shanghai on (EIP-3860), else undefined. */
  readonly initCodeLimit: number | undefined;
  /** Gas a transaction costs before its first instruction (EIP-2, 2028, 2930, 3860, 7623, 7702). */
  intrinsicGas(transaction: Transaction): bigint;
}
