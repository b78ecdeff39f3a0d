import type { UnminedTransaction } from "./nodeStatus.ts";

/** A pooled transaction, and why it waits (docs/explorer-api.md, explorer_getPool). */
export interface WaitingTransaction extends UnminedTransaction {
  readonly to: string | null;
  readonly value: string;
  readonly gas: string;
  readonly selector: string;
  /** The first nonce of the sender that neither the chain nor a pending transaction uses. */
  readonly nextNonce: string;
  /** The most that it may cost, and what its sender has, in wei. */
  readonly cost: string;
  readonly balance: string;
}

export interface PoolPage {
  readonly items: readonly WaitingTransaction[];
  readonly next: string | null;
  readonly pending: string;
  readonly queued: string;
  /** The lowest price per gas that this node mines, in wei. */
  readonly minGasPrice: string;
}
