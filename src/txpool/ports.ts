import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import type { SentTransaction, Transaction } from "../types/transaction.ts";
import type { TransactionOrigin } from "./entry.ts";

/** The pool's dependencies, supplied by the node. */
export interface PoolParts {
  readonly chain: PoolChainView;
  readonly clock: Pick<Clock, "nowMs">;
  /** False when the sender is not on the operator's account allowlist. When absent, every sender is permitted. */
  readonly isSenderPermitted?: (sender: Address) => boolean;
  /** False while the node is not in sync and accepts no transactions. When absent, the pool is always open. */
  readonly isOpen?: () => boolean;
}

/** What the account contract says at the head; "unknown" where it gives no answer, or none in time. */
export type SenderPermission = "permitted" | "denied" | "unknown";

/** Asks the contract that decides who may send. Bounded in time, and off the thread of consensus where it takes long. */
export type AskContract = (
  transaction: SentTransaction,
  origin: TransactionOrigin,
) => Promise<SenderPermission>;

/** The chain's head as the pool needs it. All values belong to one head until headChanged is called. */
export interface PoolChainView {
  nonce(sender: Address): bigint;
  balanceWei(sender: Address): bigint;
  /** True when the sender has code that is not an EIP-7702 delegation. */
  isContract(sender: Address): boolean;
  /** False while the state of the head is still being fetched; absent when it is available. */
  readonly isStateAvailable?: boolean;
  readonly headGasLimit: bigint;
  /** Base fee of the next block, or undefined before London. */
  readonly nextBaseFeePerGas: bigint | undefined;
  /** Transaction types and limits of the next block. */
  readonly rules: PoolRules;
}

export interface PoolRules {
  /** Undefined before EIP-155, when signatures cannot name a chain. */
  readonly chainId: bigint | undefined;
  readonly acceptedTypes: ReadonlySet<Transaction["type"]>;
  readonly hasBaseFee: boolean;
  readonly isZeroBaseFee: boolean;
  /** True when the first base fee is zero, or all are. */
  readonly isFreeFromStart: boolean;
  /** Largest init code in bytes from Shanghai on (EIP-3860), else undefined. */
  readonly initCodeLimit: number | undefined;
  /** Intrinsic gas (EIP-2, 2028, 2930, 3860, 7623, 7702). */
  intrinsicGas(transaction: Transaction): bigint;
}

/** New blocks, oldest first, and removed ones after a rewind, newest first. */
export interface PoolHeadChange {
  readonly added: readonly { readonly transactions: readonly SentTransaction[] }[];
  readonly removed: readonly { readonly transactions: readonly SentTransaction[] }[];
}
