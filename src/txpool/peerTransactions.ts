import type { Logger } from "../observability/logger.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Transaction } from "../types/transaction.ts";
import { createPeerValidation, type PeerCounts, type PeerValidationParts } from "./peerValidation.ts";
import type { TxPool } from "./txPool.ts";

/** The pool as peers use it; transactions that they send are added as remote ones. */
export interface PeerPool {
  /** False while the node is not in sync: transactions are neither accepted nor requested (p2p.md#transaction-gossip). */
  readonly isOpen: boolean;
  /** True while the full pool takes nothing more: announced transactions are not requested. */
  readonly isSaturated: boolean;
  get(hash: Hash): Transaction | undefined;
  transactions(): Iterable<Transaction>;
  /** Recovers the senders and validates the transactions, in order; ignores those beyond MAX_WAITING_TRANSACTIONS. */
  offer(
    transactions: readonly Transaction[],
    peer: { readonly isAhead: boolean },
  ): PeerCounts | Promise<PeerCounts>;
}

export interface PeerPoolParts extends PeerValidationParts {
  readonly pool: Pick<TxPool, "add" | "get" | "entries" | "screen" | "nextNonce" | "isSaturated">;
  readonly logger: Logger;
}

/** Limit of peers' transactions whose senders are being recovered. */
const MAX_WAITING_TRANSACTIONS = 16_384;

const NO_COUNTS: PeerCounts = { accepted: 0, rejected: 0 };

export function createPeerPool(parts: PeerPoolParts, isOpen: () => boolean): PeerPool {
  const { pool, logger } = parts;
  const validate = createPeerValidation(parts);
  let waiting = 0;
  return {
    get isOpen() {
      return isOpen();
    },
    get isSaturated() {
      return pool.isSaturated;
    },
    get: (hash) => pool.get(hash)?.transaction,
    *transactions() {
      for (const { transaction } of pool.entries()) yield transaction;
    },
    offer(transactions, peer) {
      const taken = transactions.slice(0, MAX_WAITING_TRANSACTIONS - waiting);
      if (taken.length === 0) return NO_COUNTS;
      waiting += taken.length;
      return validate(taken, peer)
        .catch((error: unknown) => {
          logger.warn({ error }, "transactions of peers were lost");
          return NO_COUNTS;
        })
        .finally(() => {
          waiting -= taken.length;
        });
    },
  };
}
