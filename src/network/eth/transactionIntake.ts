import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Clock } from "../../primitives/clock.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { PeerCounts } from "../../txpool/peerValidation.ts";
import type { Transaction } from "../../types/transaction.ts";
import { MAX_OFFERED_TRANSACTIONS, RECOVERY_MS, REOFFER_AFTER_MS, UNDELIVERED_WEIGHT } from "./limits.ts";
import type { AnnouncedTransaction } from "./messages.ts";
import type { Peer } from "./peer.ts";
import type { EthPool } from "./ports.ts";
import { NO_COUNTS } from "./transactionScore.ts";

interface TransactionIntakeParts {
  readonly pool: EthPool;
  readonly clock: Clock;
  /** The peer has blocks that this node lacks. */
  readonly isAhead: (peer: Peer) => boolean;
  /** The peer has these transactions, and the full pool has no place for them now. */
  readonly onWithoutPlace: (peer: Peer, announcements: readonly AnnouncedTransaction[]) => void;
}

/**
 * Offers peers' transactions to the pool, each at most once per minute, and scores the peers by the results
 * (transactionScore.ts). Not done here: validating transactions (the pool).
 */
export class TransactionIntake {
  private readonly parts: TransactionIntakeParts;
  /** Transactions offered to the pool, oldest first, with the time. */
  private readonly offered = new Map<string, number>();

  constructor(parts: TransactionIntakeParts) {
    this.parts = parts;
  }

  /** True for a transaction of the pool, and for one that was offered recently. */
  isKnown(key: string, hash: Hash): boolean {
    const offeredMs = this.offered.get(key);
    if (offeredMs !== undefined && this.parts.clock.nowMs() - offeredMs < REOFFER_AFTER_MS) return true;
    return this.parts.pool.get(hash) !== undefined;
  }

  take(peer: Peer, transactions: readonly Transaction[]): PeerCounts | Promise<PeerCounts> {
    const fresh: Transaction[] = [];
    for (const transaction of transactions) {
      const key = toKey(transaction.hash);
      peer.knownTransactions.add(key);
      if (this.isKnown(key, transaction.hash)) continue;
      this.offered.delete(key);
      this.offered.set(key, this.parts.clock.nowMs());
      fresh.push(transaction);
    }
    dropOldest(this.offered, MAX_OFFERED_TRANSACTIONS);
    if (fresh.length === 0) return NO_COUNTS;
    peer.spend(fresh.length * RECOVERY_MS);
    const validating = this.parts.pool.offer(fresh, { isAhead: this.parts.isAhead(peer) });
    if (validating instanceof Promise) return validating.then((counts) => this.settle(peer, counts));
    return this.settle(peer, validating);
  }

  /** Notes that a response lacked transactions that the peer had announced. */
  noteUndelivered(peer: Peer, count: number): void {
    peer.noteRefused("undelivered", count);
    record(peer, { accepted: 0, rejected: count * UNDELIVERED_WEIGHT });
  }

  /** Notes that transactions arrived from an ignored peer. */
  noteIgnored(peer: Peer): void {
    peer.noteRefused("ignored");
    peer.transactionScore.noteIgnored();
    disconnectIfUseless(peer);
  }

  private settle(peer: Peer, counts: PeerCounts): PeerCounts {
    const { withoutPlace } = counts;
    if (withoutPlace !== undefined) {
      for (const { hash } of withoutPlace) this.offered.delete(toKey(hash));
      this.parts.onWithoutPlace(
        peer,
        withoutPlace.map(({ hash }) => ({ hash })),
      );
    }
    return record(peer, counts);
  }
}

/** Records validation results. A trusted peer is only ignored for a while; any other that continues is disconnected. */
function record(peer: Peer, counts: PeerCounts): PeerCounts {
  peer.transactionScore.note(counts);
  if (peer.transactionScore.isIgnored) peer.announced.clear();
  disconnectIfUseless(peer);
  return counts;
}

function disconnectIfUseless(peer: Peer): void {
  if (peer.transactionScore.isAtLimit && !peer.isTrusted)
    peer.disconnect("uselessPeer", "too many of its transactions were rejected, or never came");
}
