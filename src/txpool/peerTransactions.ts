import type { Logger } from "../observability/logger.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Hash } from "../primitives/hash.ts";
import { createKnownHashes } from "../primitives/knownHashes.ts";
import { type Transaction, withSender } from "../types/transaction.ts";
import type { PoolErrorCode } from "./errors.ts";
import type { RecoverSenders } from "./ports.ts";
import type { PoolHeadChange, TxPool } from "./txPool.ts";

/** The pool as peers use it; transactions that they send are added as remote ones. */
export interface PeerPool {
  /** False while the node is not in sync: transactions are neither accepted nor requested (p2p.md#transaction-gossip). */
  readonly isOpen: boolean;
  get(hash: Hash): Transaction | undefined;
  transactions(): Iterable<Transaction>;
  /** Recovers the senders and validates the transactions, in order; ignores those beyond MAX_WAITING_TRANSACTIONS. */
  offer(
    transactions: readonly Transaction[],
    peer: { readonly isAhead: boolean },
  ): PeerCounts | Promise<PeerCounts>;
}

/** Results that say nothing about the peer, such as known transactions, count for neither. */
export interface PeerCounts {
  readonly accepted: number;
  /** May be a fraction. */
  readonly rejected: number;
}

export interface PeerPoolParts {
  readonly pool: Pick<TxPool, "add" | "get" | "entries" | "screen" | "nextNonce">;
  readonly chain: { onHeadChanged(listener: (change: Pick<PoolHeadChange, "added">) => void): () => void };
  readonly recoverSenders: RecoverSenders;
  readonly logger: Logger;
}

/** Limit of peers' transactions whose senders are being recovered. */
const MAX_WAITING_TRANSACTIONS = 16_384;
/** Hashes of recently mined transactions, which peers may still send. */
const MAX_MINED_HASHES = 65_536;
/** No honest sender is this far ahead of its next nonce while a gap is open. */
const HOPELESS_NONCE = 65_536n;
/** Weight of a rejection when the peer may know a newer state than ours. */
const REJECTION_WEIGHT_AHEAD = 0.25;

const NO_COUNTS: PeerCounts = { accepted: 0, rejected: 0 };

/**
 * Checks that need no sender come first, because a recovery takes about 45 µs on a worker thread; then senders are
 * recovered, and the pool validates.
 */
export function createPeerPool(parts: PeerPoolParts, isOpen: () => boolean): PeerPool {
  const { pool, recoverSenders, logger } = parts;
  const mined = createKnownHashes(MAX_MINED_HASHES);
  let waiting = 0;

  parts.chain.onHeadChanged(({ added }) => {
    for (const { transactions } of added) for (const { hash } of transactions) mined.add(toKey(hash));
  });

  async function validate(
    offered: readonly Transaction[],
    { isAhead }: { readonly isAhead: boolean },
  ): Promise<PeerCounts> {
    let accepted = 0;
    let rejected = 0;
    const note = (code: PoolErrorCode | undefined): void => {
      if (code === undefined) accepted += 1;
      else if (NEVER_VALID.has(code)) rejected += 1;
      else if (WITHOUT_EFFECT.has(code)) rejected += isAhead ? REJECTION_WEIGHT_AHEAD : 1;
    };
    const screened: Transaction[] = [];
    for (const transaction of offered) {
      // Mined already.
      if (mined.has(toKey(transaction.hash))) continue;
      const code = pool.screen(transaction);
      if (code === undefined) screened.push(transaction);
      else note(code);
    }
    const senders = await recoverSenders(screened);
    for (const [index, transaction] of screened.entries()) {
      const sender = senders[index];
      if (sender === undefined) {
        note("invalidSignature");
        continue;
      }
      // It may have been mined during the recovery.
      if (mined.has(toKey(transaction.hash))) continue;
      const added = pool.add(withSender(transaction, sender), "remote");
      const code = added.ok ? undefined : added.error.code;
      // A lost announcement makes a gap that honest peers do not know of.
      if (code === "nonceTooDistant" && transaction.nonce < pool.nextNonce(sender) + HOPELESS_NONCE) continue;
      note(code);
    }
    return { accepted, rejected };
  }

  return {
    get isOpen() {
      return isOpen();
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

/** Honest peers never relay these, whatever their head. Errors that depend on a node's settings are not included. */
const NEVER_VALID: ReadonlySet<PoolErrorCode> = new Set([
  "wrongChainId",
  "chainIdNotSupported",
  "invalidSignature",
  "invalidTransactionType",
  "nonceOverflow",
  "initCodeTooLarge",
  "upfrontCostOverflow",
  "priorityFeeAboveFeeCap",
  "intrinsicGasAboveLimit",
]);

/** No fee is ever paid for these: an honest peer only sends a few, when a block was faster than its message. */
const WITHOUT_EFFECT: ReadonlySet<PoolErrorCode> = new Set([
  "upfrontCostAboveBalance",
  "nonceTooLow",
  "nonceTooDistant",
]);
