import type { ExecutionObserver } from "../execution/observer.ts";
import type { TransactionResult } from "../execution/transactionResult.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Authorization } from "../types/transaction.ts";
import type { WatchedOverlay } from "./watchedOverlay.ts";

/** The position of a mined transaction in the chain. */
export interface TransactionLocation {
  readonly blockHash: Hash;
  readonly blockNumber: bigint;
  readonly transactionHash: Hash;
  readonly index: number;
}

/** A transaction, or a call that is executed as one, with what tracers need to know about it. */
export interface TracedTransaction {
  readonly gasLimit: bigint;
  /** Undefined for a call. */
  readonly location: TransactionLocation | undefined;
  /** Receives the fees. */
  readonly beneficiary: Address;
  /** Authorizations to set code (EIP-7702). */
  readonly authorizationList: readonly Authorization[];
  /** The state on which it is executed, which also gives the values before it. */
  readonly state: WatchedOverlay;
}

/** The trace of one running transaction, written as JSON. */
export interface TransactionTrace {
  readonly observer: ExecutionObserver;
  /** Writes the rest of the trace. */
  finish(result: TransactionResult): void;
}

/** Starts the trace of a transaction. */
export type TraceStyle = (transaction: TracedTransaction) => TransactionTrace;
