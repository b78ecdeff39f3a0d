import type { Address } from "../primitives/address.ts";

/**
 * Observes only messages, not the instructions between them: who calls, creates and destroys whom. Code runs as fast as
 * without it. A transaction that runs no code has no messages.
 */
export interface MessageObserver {
  /** A message begins, including the transaction's own. */
  entered(message: ObservedMessage): void;
  /** SELFDESTRUCT: the balance of `from` goes to `to`. */
  destroyed(from: Address, to: Address): void;
  /** The message that began last and has not ended ends; without success everything in it is undone. */
  left(hasSucceeded: boolean): void;
}

export interface ObservedMessage {
  readonly isCreation: boolean;
  /** The calling account, whatever CALLER returns in the callee. */
  readonly from: Address;
  /** The account whose code runs, or which is created. */
  readonly to: Address;
}
