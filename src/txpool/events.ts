import type { Transaction } from "../types/transaction.ts";
import type { PoolEntry, TransactionOrigin } from "./entry.ts";
import type { PoolErrorCode } from "./errors.ts";

/** Sub-pool of an entry: executable now, or behind a gap in its sender's nonces. */
export type SubPool = "pending" | "queued";

/** Why an entry was removed. */
export type RemovalCause =
  | "mined"
  /** Another transaction of its sender has used its nonce. */
  | "superseded"
  | "replaced"
  /** The pool was full, and a better one arrived. */
  | "evicted"
  | "expired"
  /** The sender was not on the account allowlist when a block was built. */
  | "notPermitted"
  /** A block builder found that it can never be included. */
  | "invalid";

interface Removal {
  readonly entry: PoolEntry;
  readonly cause: RemovalCause;
  /** The entry's last sub-pool. */
  readonly subPool: SubPool;
}

/** A rejected transaction. */
interface RefusedTransaction {
  readonly transaction: Transaction;
  readonly origin: TransactionOrigin;
  readonly isPrioritized: boolean;
  readonly code: PoolErrorCode;
}

/** Names of the causes in the metric `tx_pool_left_total` (metrics.md#metrics-of-our-own). */
export const LEAVING_REASONS: Readonly<Record<RemovalCause, string>> = {
  mined: "mined",
  superseded: "superseded",
  replaced: "replaced",
  evicted: "pool_full",
  expired: "expired",
  notPermitted: "not_permitted",
  invalid: "invalid",
};

/** Events of a pool. Each method returns the function that unsubscribes. */
export interface PoolEvents {
  onAdded(listener: AddedListener): () => void;
  /** Entries removed for any reason but being mined. */
  onDropped(listener: DroppedListener): () => void;
  /** Every removal, including mined entries: for counters. */
  onRemoved(listener: RemovedListener): () => void;
  /** Rejected transactions. */
  onRefused(listener: RefusedListener): () => void;
}

export type AddedListener = (entry: PoolEntry, subPool: SubPool) => void;
type DroppedListener = (entry: PoolEntry, reason: string, cause: RemovalCause) => void;
type RemovedListener = (removal: Removal) => void;
type RefusedListener = (refused: RefusedTransaction) => void;

/** The pool's side of its events. */
export class PoolEventEmitter {
  readonly #addedListeners = new Set<AddedListener>();
  readonly #droppedListeners = new Set<DroppedListener>();
  readonly #removedListeners = new Set<RemovedListener>();
  readonly #refusedListeners = new Set<RefusedListener>();
  readonly events: PoolEvents = {
    onAdded: (listener) => subscribe(this.#addedListeners, listener),
    onDropped: (listener) => subscribe(this.#droppedListeners, listener),
    onRemoved: (listener) => subscribe(this.#removedListeners, listener),
    onRefused: (listener) => subscribe(this.#refusedListeners, listener),
  };

  added(entry: PoolEntry, subPool: SubPool): void {
    for (const listener of this.#addedListeners) listener(entry, subPool);
  }

  /** `reason` replaces the default text of the cause. */
  removed(removal: Removal, reason?: string): void {
    for (const listener of this.#removedListeners) listener(removal);
    const text = reason ?? REASONS[removal.cause];
    if (text !== undefined)
      for (const listener of this.#droppedListeners) listener(removal.entry, text, removal.cause);
  }

  refused(what: RefusedTransaction): void {
    for (const listener of this.#refusedListeners) listener(what);
  }
}

/** Undefined for causes that are not reported as drops. */
const REASONS: Readonly<Record<RemovalCause, string | undefined>> = {
  mined: undefined,
  superseded: "its nonce was used by another transaction",
  replaced: "replaced by one that pays more",
  evicted: "the pool is full",
  expired: "it waited longer than the retention time",
  notPermitted: "its sender is not on the account allowlist",
  invalid: "no block can include it",
};

function subscribe<L>(listeners: Set<L>, listener: L): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
