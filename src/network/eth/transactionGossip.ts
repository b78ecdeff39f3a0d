import type { Clock } from "../../primitives/clock.ts";
import type { Transaction } from "../../types/transaction.ts";
import { GossipQueue } from "./gossipQueue.ts";
import { openTransactions } from "./messageCodec.ts";
import type { AnnouncedTransaction } from "./messages.ts";
import type { Peer } from "./peer.ts";
import type { EthPool } from "./ports.ts";
import { createTransactionAnnouncer } from "./transactionAnnouncer.ts";
import { TransactionFetcher } from "./transactionFetcher.ts";
import { TransactionIntake } from "./transactionIntake.ts";
import { NO_COUNTS } from "./transactionScore.ts";

/**
 * Transaction gossip (p2p.md#transaction-gossip).
 *
 *     pool ── transactionAnnouncer.ts ──> few peers: local transactions in full, those of peers by hash
 *                                         many peers: full copies to about sqrt(n) peers, hashes to the rest
 *     peers ── full copies ──> gossipQueue.ts ─────────┬──> transactionIntake.ts ──> pool
 *     peers ── hashes ──> transactionFetcher.ts ───────┘
 *
 * Invariants: no peer is sent a hash or a transaction that it is known to have; everything that waits is bounded. Not
 * done here: validating transactions (the pool).
 */
export interface TransactionGossip {
  /** Must be called for each addition to the pool, local or remote. */
  announce(transactions: readonly Transaction[]): void;
  /** Announces the whole pool, by hashes, to a new peer. */
  sendPool(peer: Peer): void;
  /** Receives a message of unsolicited transactions. */
  receive(peer: Peer, payload: Uint8Array): void;
  receiveAnnounced(peer: Peer, announcements: readonly AnnouncedTransaction[]): void;
  /** Drops the queue of a peer that is gone. */
  forget(peer: Peer): void;
  close(): void;
}

export function createTransactionGossip(parts: {
  readonly peers: () => readonly Peer[];
  readonly pool: EthPool;
  readonly clock: Clock;
  /** Random number from 0 to 1. */
  readonly chance: () => number;
  /** Whether the peer has blocks that this node lacks. */
  readonly isAhead: (peer: Peer) => boolean;
  /** Runs work after pending I/O. */
  readonly defer: (action: () => void) => void;
}): TransactionGossip {
  const { pool } = parts;
  const announcer = createTransactionAnnouncer(parts);
  const intake = new TransactionIntake({
    ...parts,
    onWithoutPlace: (peer, announcements) => fetcher.receiveAnnounced(peer, announcements),
  });
  const fetcher = new TransactionFetcher({ ...parts, intake });
  const queue = new GossipQueue<Peer>({
    defer: parts.defer,
    inShare: (peer, work) => peer.inShare(work),
    open: openTransactions,
    // The pool may have closed since the message arrived.
    validate: (peer, transactions) => (pool.isOpen ? intake.take(peer, transactions) : NO_COUNTS),
    onBreach(peer, detail) {
      peer.noteRefused("malformed");
      peer.disconnect("breachOfProtocol", detail);
    },
    onDropped: (peer) => peer.noteRefused("tooManyTransactions"),
  });

  return {
    announce: (transactions) => announcer.announce(transactions),
    sendPool: (peer) => announcer.sendPool(peer),
    receive(peer, payload) {
      // Decoding would be wasted while the pool is closed.
      if (!pool.isOpen) return;
      if (peer.transactionScore.isIgnored) intake.noteIgnored(peer);
      else queue.enqueue(peer, payload);
    },
    receiveAnnounced: (peer, announcements) => fetcher.receiveAnnounced(peer, announcements),
    forget: (peer) => queue.forget(peer),
    close() {
      announcer.close();
      fetcher.close();
    },
  };
}
