import type { Transaction } from "../types/transaction.ts";
import type { PoolEntry, TransactionOrigin } from "./entry.ts";
import type { PoolErrorCode } from "./errors.ts";

/** Where an entry stands: among those that a block may take now, or behind a gap in its sender's nonces. */
export type SubPool = "pending" | "queued";

/** Why an entry is no longer in the pool. */
export type RemovalCause =
  | "mined"
  /** Another transaction of its sender has used its nonce. */
  | "superseded"
  | "replaced"
  /** The pool was full. */
  | "evicted"
  /** As evicted, but at once: it came into a full pool as the worst of all, and was never added. */
  | "poolFull"
  | "expired"
  /** The account allowlist left its sender out when a block was built. */
  | "notPermitted"
  /** A block builder found that it can never be included. */
  | "invalid";

export interface Removal {
  readonly entry: PoolEntry;
  readonly cause: RemovalCause;
  /** Where it stood last. */
  readonly subPool: SubPool;
}

/** A transaction that the pool did not take. */
export interface RefusedTransaction {
  readonly transaction: Transaction;
  readonly origin: TransactionOrigin;
  readonly isPrioritized: boolean;
  readonly code: PoolErrorCode;
}

/** What can be heard of a pool. Each method answers with the function that ends it. */
export interface PoolEvents {
  onAdded(listener: AddedListener): () => void;
  /** Hears of entries that left for any reason but being mined. */
  onDropped(listener: DroppedListener): () => void;
  /** Hears of every departure, mined ones and those turned away at once included: for those who count. */
  onRemoved(listener: RemovedListener): () => void;
  /** Hears of transactions that were refused. */
  onRefused(listener: RefusedListener): () => void;
}

export type AddedListener = (entry: PoolEntry, subPool: SubPool) => void;
export type DroppedListener = (entry: PoolEntry, reason: string) => void;
export type RemovedListener = (removal: Removal) => void;
export type RefusedListener = (refused: RefusedTransaction) => void;

/** The pool's side of its events. */
export interface PoolEventEmitter {
  readonly events: PoolEvents;
  added(entry: PoolEntry, subPool: SubPool): void;
  /** `reason` is told where the cause alone says too little. */
  removed(removal: Removal, reason?: string): void;
  refused(refused: RefusedTransaction): void;
}

export function createPoolEventEmitter(): PoolEventEmitter {
  const added = new Set<AddedListener>();
  const dropped = new Set<DroppedListener>();
  const removed = new Set<RemovedListener>();
  const refused = new Set<RefusedListener>();
  return {
    events: {
      onAdded: (listener) => subscribe(added, listener),
      onDropped: (listener) => subscribe(dropped, listener),
      onRemoved: (listener) => subscribe(removed, listener),
      onRefused: (listener) => subscribe(refused, listener),
    },
    added(entry, subPool) {
      for (const listener of added) listener(entry, subPool);
    },
    removed(removal, reason) {
      for (const listener of removed) listener(removal);
      const text = reason ?? REASONS[removal.cause];
      if (text !== undefined) for (const listener of dropped) listener(removal.entry, text);
    },
    refused(what) {
      for (const listener of refused) listener(what);
    },
  };
}

/** Undefined for what listeners to drops do not hear of. */
const REASONS: Readonly<Record<RemovalCause, string | undefined>> = {
  mined: undefined,
  superseded: "its nonce was used by another transaction",
  replaced: "replaced by one that pays more",
  evicted: "the pool is full",
  poolFull: undefined,
  expired: "it waited longer than transactions are kept",
  notPermitted: "its sender is not on the account allowlist",
  invalid: "no block can take it",
};

function subscribe<L>(listeners: Set<L>, listener: L): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
