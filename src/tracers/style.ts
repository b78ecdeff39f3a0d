import type { ExecutionObserver } from "../execution/observer.ts";
import type { TransactionResult } from "../execution/transactionResult.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Authorization } from "../types/transaction.ts";
import type { WatchedOverlay } from "./watchedOverlay.ts";

/** Where a mined transaction stands. */
export interface TransactionPlace {
  readonly blockHash: Hash;
  readonly blockNumber: bigint;
  readonly transactionHash: Hash;
  readonly index: number;
}

/** A transaction, or a call that is executed as one, for one who traces it. */
export interface Subject {
  readonly gasLimit: bigint;
  /** Undefined for a call. */
  readonly place: TransactionPlace | undefined;
  /** Who is paid the fees. */
  readonly beneficiary: Address;
  /** Whose code it sets (EIP-7702). */
  readonly authorizationList: readonly Authorization[];
  /** The state that it is executed on, and what that was before. */
  readonly state: WatchedOverlay;
}

/** The trace of one transaction in the making, which is written as JSON. */
export interface TransactionTrace {
  readonly observer: ExecutionObserver;
  /** Writes what is left to write. */
  finish(result: TransactionResult): void;
}

export type TraceStyle = (subject: Subject) => TransactionTrace;
