import { toKey } from "../../primitives/byteKey.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import type { Transaction } from "../../types/transaction.ts";
import {
  FETCH_INTERVAL_MS,
  MAX_ANNOUNCED_TRANSACTIONS,
  MAX_FETCHED_TRANSACTIONS,
  MAX_FETCHES_OF_PEER,
  MAX_SIZE_DIFFERENCE,
} from "./limits.ts";
import type { AnnouncedTransaction } from "./messages.ts";
import type { DeliveredTransaction } from "./payloadReaders.ts";
import type { Peer } from "./peer.ts";
import type { EthPool } from "./ports.ts";
import type { TransactionIntake } from "./transactionIntake.ts";

interface TransactionFetcherParts {
  readonly peers: () => readonly Peer[];
  readonly pool: Pick<EthPool, "isOpen" | "isSaturated">;
  readonly clock: Clock;
  readonly intake: Pick<TransactionIntake, "isKnown" | "take" | "noteUndelivered">;
}

/**
 * Requests the transactions that peers announce by hash, every 500 ms (p2p.md#transaction-gossip).
 *
 * While the pool is saturated, announced transactions wait, and are requested once there may be room.
 *
 * Invariants: a transaction is requested from one peer at a time, and after a failure from another, or again; waiting
 * announcements are bounded per peer; deliveries must match announcements, and a transaction that never comes counts against
 * the peer.
 */
export class TransactionFetcher {
  private readonly parts: TransactionFetcherParts;
  private timer: Timer | undefined;
  /** Transactions requested from some peer. */
  private readonly inFlight = new Set<string>();
  /** Number of open requests by peer. */
  private readonly openRequests = new WeakMap<Peer, number>();
  /** Peers whose last request failed: others are asked before them. */
  private readonly lateResponders = new WeakSet<Peer>();

  constructor(parts: TransactionFetcherParts) {
    this.parts = parts;
  }

  receiveAnnounced(peer: Peer, announcements: readonly AnnouncedTransaction[]): void {
    const { pool, intake } = this.parts;
    if (!pool.isOpen) return;
    if (peer.transactionScore.isIgnored) {
      peer.noteRefused("ignored");
      return;
    }
    for (const [index, announcement] of announcements.entries()) {
      if (peer.announced.size >= MAX_ANNOUNCED_TRANSACTIONS) {
        peer.noteRefused("tooManyAnnouncements", announcements.length - index);
        break;
      }
      const key = toKey(announcement.hash);
      if (!intake.isKnown(key, announcement.hash)) peer.announced.set(key, announcement);
    }
    this.schedule();
  }

  close(): void {
    this.timer?.cancel();
  }

  private schedule(): void {
    const { peers, clock } = this.parts;
    if (this.timer !== undefined || peers().every(({ announced }) => announced.size === 0)) return;
    this.timer = clock.at(clock.nowMs() + FETCH_INTERVAL_MS, () => this.fetchAnnounced());
  }

  private fetchAnnounced(): void {
    this.timer = undefined;
    const peers = this.parts.peers();
    for (const peer of [
      ...peers.filter((one) => !this.lateResponders.has(one)),
      ...peers.filter((one) => this.lateResponders.has(one)),
    ]) {
      if (!this.parts.pool.isOpen) peer.announced.clear();
      void this.fetchFrom(peer);
    }
    this.schedule();
  }

  /** Continues without a pause while a full request is available. */
  private async fetchFrom(peer: Peer): Promise<void> {
    while (!this.parts.pool.isSaturated && (this.openRequests.get(peer) ?? 0) < MAX_FETCHES_OF_PEER) {
      const wanted = this.takeMissing(peer);
      if (wanted.length === 0) return;
      const isComplete = await this.fetch(peer, wanted);
      if (!isComplete || wanted.length < MAX_FETCHED_TRANSACTIONS) return;
    }
  }

  /** The next transactions to request from a peer that announced them. */
  private takeMissing(peer: Peer): readonly AnnouncedTransaction[] {
    const wanted: AnnouncedTransaction[] = [];
    for (const [key, announced] of peer.announced) {
      if (wanted.length === MAX_FETCHED_TRANSACTIONS) break;
      // The transaction was requested from another peer: if that fails, this one will be asked.
      if (this.inFlight.has(key)) continue;
      peer.announced.delete(key);
      if (!this.parts.intake.isKnown(key, announced.hash)) wanted.push(announced);
    }
    return wanted;
  }

  private async fetch(peer: Peer, wanted: readonly AnnouncedTransaction[]): Promise<boolean> {
    const asked = new Map(wanted.map((announced) => [toKey(announced.hash), announced]));
    for (const key of asked.keys()) this.inFlight.add(key);
    this.countRequest(peer, 1);
    const response = await peer.requestTransactions(wanted.map(({ hash }) => hash));
    this.countRequest(peer, -1);
    for (const key of asked.keys()) this.inFlight.delete(key);
    if (!response.ok) {
      if (response.error.code !== "busy") this.lateResponders.add(peer);
      this.putBack(peer, wanted);
      return false;
    }
    this.lateResponders.delete(peer);
    return this.accept(peer, asked, response.value);
  }

  /**
   * Accepts delivered transactions; false when the peer is disconnected, because it delivered something other than
   * announced.
   */
  private async accept(
    peer: Peer,
    asked: Map<string, AnnouncedTransaction>,
    delivered: readonly DeliveredTransaction[],
  ): Promise<boolean> {
    const { intake } = this.parts;
    const transactions: Transaction[] = [];
    for (const one of delivered) {
      const key = toKey(one.transaction.hash);
      const announced = asked.get(key);
      if (announced === undefined) continue;
      asked.delete(key);
      if (!isAsAnnounced(one, announced)) {
        peer.noteRefused("falseAnnouncement");
        peer.disconnect("uselessPeer", "it announced a transaction with another type or size");
        return false;
      }
      transactions.push(one.transaction);
    }
    if (asked.size > 0) intake.noteUndelivered(peer, asked.size);
    await intake.take(peer, transactions);
    return true;
  }

  private countRequest(peer: Peer, change: number): void {
    this.openRequests.set(peer, (this.openRequests.get(peer) ?? 0) + change);
  }

  /**
   * Keeps hashes for a new request, because no other peer may have announced them. A peer that never responds is
   * disconnected after some requests.
   */
  private putBack(peer: Peer, wanted: readonly AnnouncedTransaction[]): void {
    for (const announced of wanted) {
      if (peer.announced.size < MAX_ANNOUNCED_TRANSACTIONS)
        peer.announced.set(toKey(announced.hash), announced);
    }
    this.schedule();
  }
}

/**
 * Whether a transaction matches its announcement. Clients' sizes differ by a few bytes, those of the encoding around the
 * transaction.
 */
function isAsAnnounced(
  { transaction, size }: DeliveredTransaction,
  announced: AnnouncedTransaction,
): boolean {
  if (announced.type !== undefined && announced.type !== transaction.type) return false;
  return announced.size === undefined || Math.abs(announced.size - size) <= MAX_SIZE_DIFFERENCE;
}
