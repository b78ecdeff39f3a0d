import type { Transaction } from "../types/transaction.ts";
import type { PoolEntry, TransactionOrigin } from "./entry.ts";
import type { PoolErrorCode } from "./errors.ts";

/** Where an entry stands: among those that a block may take now, or behind a gap in its sender's nonces. */
export type Place = "pending" | "queued";

/** Why an entry is no longer in the pool. */
export type DepartureCause =
  | "mined"
  /** Another transaction of its sender has used its nonce. */
  | "overtaken"
  | "replaced"
  /** The pool was full. */
  | "evicted"
  /** As evicted, but at once: it came into a full pool as the worst of all, and was never added. */
  | "turnedAway"
  | "expired"
  /** The account allowlist left its sender out when a block was built. */
  | "notPermitted"
  /** A block builder found that it can never be included. */
  | "invalid";

export interface Departure {
  readonly entry: PoolEntry;
  readonly cause: DepartureCause;
  /** Where it stood last. */
  readonly place: Place;
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
  onDeparted(listener: DepartedListener): () => void;
  /** Hears of transactions that were refused. */
  onRefused(listener: RefusedListener): () => void;
}

export type AddedListener = (entry: PoolEntry, place: Place) => void;
export type DroppedListener = (entry: PoolEntry, reason: string) => void;
export type DepartedListener = (departure: Departure) => void;
export type RefusedListener = (refused: RefusedTransaction) => void;

/** The pool's side of its events. */
export interface PoolEventEmitter {
  readonly events: PoolEvents;
  added(entry: PoolEntry, place: Place): void;
  /** `reason` is told where the cause alone says too little. */
  departed(departure: Departure, reason?: string): void;
  refused(refused: RefusedTransaction): void;
}

export function createPoolEventEmitter(): PoolEventEmitter {
  const added = new Set<AddedListener>();
  const dropped = new Set<DroppedListener>();
  const departed = new Set<DepartedListener>();
  const refused = new Set<RefusedListener>();
  return {
    events: {
      onAdded: (listener) => subscribe(added, listener),
      onDropped: (listener) => subscribe(dropped, listener),
      onDeparted: (listener) => subscribe(departed, listener),
      onRefused: (listener) => subscribe(refused, listener),
    },
    added(entry, place) {
      for (const listener of added) listener(entry, place);
    },
    departed(departure, reason) {
      for (const listener of departed) listener(departure);
      const said = reason ?? REASONS[departure.cause];
      if (said !== undefined) for (const listener of dropped) listener(departure.entry, said);
    },
    refused(what) {
      for (const listener of refused) listener(what);
    },
  };
}

/** Undefined for what listeners to drops do not hear of. */
const REASONS: Readonly<Record<DepartureCause, string | undefined>> = {
  mined: undefined,
  overtaken: "its nonce was used by another transaction",
  replaced: "replaced by one that pays more",
  evicted: "the pool is full",
  turnedAway: undefined,
  expired: "it waited longer than transactions are kept",
  notPermitted: "its sender is not on the account allowlist",
  invalid: "no block can take it",
};

function subscribe<L>(listeners: Set<L>, listener: L): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
