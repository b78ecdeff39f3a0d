import type { NextBlockView } from "../chain/nextBlockView.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import type { SentTransaction } from "../types/transaction.ts";
import type { TransactionOrigin } from "./entry.ts";

/** The pool's dependencies, supplied by the node. */
export interface PoolParts {
  readonly chain: PoolChainView;
  readonly clock: Pick<Clock, "nowMs">;
  /** False when the sender is not on the operator's account allowlist. When absent, every sender is permitted. */
  readonly isSenderPermitted?: (sender: Address) => boolean;
}

/**
 * What the account contract says at the head: "unknown" where it does not answer, or not in time; "notAsked" where another
 * check refused the transaction before.
 */
export type SenderPermission = "permitted" | "denied" | "unknown" | "notAsked";

/** Asks the contract that decides who may send. Bounded in time, and off the thread of consensus where it takes long. */
export type AskContract = (
  transaction: SentTransaction,
  origin: TransactionOrigin,
) => Promise<SenderPermission>;

/** The chain's head as the pool needs it. All values belong to one head until headChanged is called. */
export interface PoolChainView extends NextBlockView {
  /** False while the state of the head is still being fetched; absent when it is available. */
  readonly isStateAvailable?: boolean;
}

/** New blocks, oldest first, and removed ones after a rewind, newest first. */
export interface PoolHeadChange {
  readonly added: readonly { readonly transactions: readonly SentTransaction[] }[];
  readonly removed: readonly { readonly transactions: readonly SentTransaction[] }[];
}
