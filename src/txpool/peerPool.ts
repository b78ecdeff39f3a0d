import type { Logger } from "../observability/logger.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Transaction } from "../types/transaction.ts";
import {
  createPeerValidation,
  type PeerCounts,
  type PeerValidationParts,
  type ValidatePeerTransactions,
} from "./peerValidation.ts";
import type { TxPool } from "./txPool.ts";

interface PeerPoolParts extends PeerValidationParts {
  readonly pool: Pick<TxPool, "add" | "get" | "entries" | "screen" | "nextNonce" | "isSaturated">;
  readonly logger: Logger;
}

/** Limit of peers' transactions whose senders are being recovered. */
const MAX_WAITING_TRANSACTIONS = 16_384;

const NO_COUNTS: PeerCounts = { accepted: 0, rejected: 0 };

/** The pool as peers use it; transactions that they send are added as remote ones. */
export class PeerPool {
  readonly #parts: PeerPoolParts;
  readonly #isOpen: () => boolean;
  readonly #validate: ValidatePeerTransactions;
  #waiting = 0;

  constructor(parts: PeerPoolParts, isOpen: () => boolean) {
    this.#parts = parts;
    this.#isOpen = isOpen;
    this.#validate = createPeerValidation(parts);
  }

  /** False while the node is not in sync: transactions are neither accepted nor requested (p2p.md#transaction-gossip). */
  get isOpen(): boolean {
    return this.#isOpen();
  }

  /** True while the full pool accepts nothing more: announced transactions are not requested. */
  get isSaturated(): boolean {
    return this.#parts.pool.isSaturated;
  }

  get(hash: Hash): Transaction | undefined {
    return this.#parts.pool.get(hash)?.transaction;
  }

  *transactions(): Iterable<Transaction> {
    for (const { transaction } of this.#parts.pool.entries()) yield transaction;
  }

  /** Recovers the senders and validates the transactions, in order; ignores those beyond MAX_WAITING_TRANSACTIONS. */
  offer(
    transactions: readonly Transaction[],
    peer: { readonly isAhead: boolean },
  ): PeerCounts | Promise<PeerCounts> {
    const taken = transactions.slice(0, MAX_WAITING_TRANSACTIONS - this.#waiting);
    if (taken.length === 0) return NO_COUNTS;
    this.#waiting += taken.length;
    return this.#validate(taken, peer)
      .catch((error: unknown) => {
        this.#parts.logger.warn({ error }, "transactions from peers were lost");
        return NO_COUNTS;
      })
      .finally(() => {
        this.#waiting -= taken.length;
      });
  }
}
