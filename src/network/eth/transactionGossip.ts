import type { Clock } from "../../primitives/clock.ts";
import type { Transaction } from "../../types/transaction.ts";
import { GossipQueue } from "./gossipQueue.ts";
import { openTransactions } from "./messageCodec.ts";
import type { AnnouncedTransaction } from "./messages.ts";
import type { Peer } from "./peer.ts";
import type { EthPool } from "./ports.ts";
import { TransactionAnnouncer } from "./transactionAnnouncer.ts";
import { TransactionFetcher } from "./transactionFetcher.ts";
import { TransactionIntake } from "./transactionIntake.ts";
import { NO_COUNTS } from "./transactionScore.ts";

interface TransactionGossipParts {
  readonly peers: () => readonly Peer[];
  readonly pool: EthPool;
  readonly clock: Clock;
  /** Random number from 0 to 1. */
  readonly chance: () => number;
  /** Whether the peer has blocks that this node lacks. */
  readonly isAhead: (peer: Peer) => boolean;
  /** Runs work after pending I/O. */
  readonly defer: (action: () => void) => void;
}

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
export class TransactionGossip {
  private readonly parts: TransactionGossipParts;
  private readonly announcer: TransactionAnnouncer;
  private readonly intake: TransactionIntake;
  private readonly fetcher: TransactionFetcher;
  private readonly queue: GossipQueue<Peer>;

  constructor(parts: TransactionGossipParts) {
    this.parts = parts;
    this.announcer = new TransactionAnnouncer(parts);
    this.intake = new TransactionIntake({
      ...parts,
      onWithoutPlace: (peer, announcements) => this.fetcher.receiveAnnounced(peer, announcements),
    });
    this.fetcher = new TransactionFetcher({ ...parts, intake: this.intake });
    this.queue = new GossipQueue<Peer>({
      defer: parts.defer,
      inShare: (peer, work) => peer.inShare(work),
      open: openTransactions,
      // The pool may have closed since the message arrived.
      validate: (peer, transactions) =>
        parts.pool.isOpen ? this.intake.take(peer, transactions) : NO_COUNTS,
      onBreach(peer, detail) {
        peer.noteRefused("malformed");
        peer.disconnect("breachOfProtocol", detail);
      },
      onDropped: (peer) => peer.noteRefused("tooManyTransactions"),
    });
  }

  /** Must be called for each addition to the pool, local or remote. */
  announce(transactions: readonly Transaction[]): void {
    this.announcer.announce(transactions);
  }

  /** Announces the whole pool, by hashes, to a new peer. */
  sendPool(peer: Peer): void {
    this.announcer.sendPool(peer);
  }

  /** Receives a message of unsolicited transactions. */
  receive(peer: Peer, payload: Uint8Array): void {
    // Decoding would be wasted while the pool is closed.
    if (!this.parts.pool.isOpen) return;
    if (peer.transactionScore.isIgnored) this.intake.noteIgnored(peer);
    else this.queue.enqueue(peer, payload);
  }

  receiveAnnounced(peer: Peer, announcements: readonly AnnouncedTransaction[]): void {
    this.fetcher.receiveAnnounced(peer, announcements);
  }

  /** Drops the queue of a peer that is gone. */
  forget(peer: Peer): void {
    this.queue.forget(peer);
  }

  close(): void {
    this.announcer.close();
    this.fetcher.close();
  }
}
