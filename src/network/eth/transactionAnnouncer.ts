import { toKey } from "../../primitives/byteKey.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import type { Transaction } from "../../types/transaction.ts";
import { AnnouncementBatch, type PendingAnnouncement } from "./announcementBatch.ts";
import {
  ANNOUNCE_DELAY_MS,
  MAX_COLLECTED_TRANSACTIONS,
  MAX_TRANSACTION_ANNOUNCEMENTS,
  SMALL_NETWORK_PEERS,
} from "./limits.ts";
import type { Peer } from "./peer.ts";
import type { EthPool } from "./ports.ts";

/**
 * Type of blob transactions. The protocol only announces them; the pool keeps them without the blobs, so they cannot be
 * served at all.
 */
const BLOB_TYPE = 3;

interface TransactionAnnouncerParts {
  readonly peers: () => readonly Peer[];
  readonly pool: EthPool;
  readonly clock: Clock;
  /** Random number from 0 to 1. */
  readonly chance: () => number;
  /** Runs work after pending I/O. */
  readonly defer: (action: () => void) => void;
}

/** Announces transactions of the pool to peers, in full or by hash (p2p.md#transaction-gossip). */
export class TransactionAnnouncer {
  private readonly parts: TransactionAnnouncerParts;
  private collected: PendingAnnouncement[] = [];
  private timer: Timer | undefined;

  constructor(parts: TransactionAnnouncerParts) {
    this.parts = parts;
  }

  /** Must be called for each addition to the pool, local or remote. */
  announce(transactions: readonly Transaction[]): void {
    // Peers that connect later get the whole pool.
    if (this.parts.peers().length === 0) return;
    addPending(this.collected, transactions);
    if (this.collected.length >= MAX_COLLECTED_TRANSACTIONS) this.sendCollected();
    else
      this.timer ??= this.parts.clock.at(this.parts.clock.nowMs() + ANNOUNCE_DELAY_MS, () =>
        this.sendCollected(),
      );
  }

  /** Announces the whole pool, by hashes, to a new peer: a message at a time, within the peer's time budget. */
  sendPool(peer: Peer): void {
    if (!this.parts.pool.isOpen) return;
    const transactions = this.parts.pool.transactions()[Symbol.iterator]();
    const sendSlice = (): void => {
      const slice = take(transactions, MAX_TRANSACTION_ANNOUNCEMENTS);
      if (slice.length === 0) return;
      const pending: PendingAnnouncement[] = [];
      addPending(pending, slice);
      new AnnouncementBatch(pending).sendHashes(peer);
      this.parts.defer(() => peer.inShare(sendSlice));
    };
    sendSlice();
  }

  close(): void {
    this.timer?.cancel();
  }

  private sendCollected(): void {
    this.timer?.cancel();
    this.timer = undefined;
    const pending = this.collected;
    this.collected = [];
    const peers = this.parts.peers();
    if (peers.length > SMALL_NETWORK_PEERS) sendToSome(shuffled(peers, this.parts.chance), pending);
    else sendToFew(peers, pending);
  }
}

function addPending(pending: PendingAnnouncement[], transactions: Iterable<Transaction>): void {
  for (const transaction of transactions) {
    if (transaction.type !== BLOB_TYPE) pending.push({ key: toKey(transaction.hash), transaction });
  }
}

function take<T>(items: Iterator<T>, most: number): readonly T[] {
  const taken: T[] = [];
  while (taken.length < most) {
    const { done, value } = items.next();
    if (done === true) break;
    taken.push(value);
  }
  return taken;
}

/** Sends full copies to the first of all peers, whether they have the transactions or not, and hashes to the rest. */
function sendToSome(peers: readonly Peer[], pending: readonly PendingAnnouncement[]): void {
  const batch = new AnnouncementBatch(pending);
  const fullCount = Math.round(Math.sqrt(peers.length));
  for (const [index, peer] of peers.entries()) {
    if (index < fullCount) batch.sendFull(peer);
    else batch.sendHashes(peer);
  }
}

/** The peer that sent a transaction has most likely sent it to the others as well. */
function sendToFew(peers: readonly Peer[], pending: readonly PendingAnnouncement[]): void {
  const isOfPeer = ({ key }: PendingAnnouncement): boolean =>
    peers.some(({ knownTransactions }) => knownTransactions.has(key));
  const ofPeers = new AnnouncementBatch(pending.filter(isOfPeer));
  const ours = new AnnouncementBatch(pending.filter((one) => !isOfPeer(one)));
  for (const peer of peers) {
    ours.sendFull(peer);
    ofPeers.sendHashes(peer);
  }
}

function shuffled<T>(items: readonly T[], chance: () => number): T[] {
  const mixed = [...items];
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.min(last, Math.floor(chance() * (last + 1)));
    const [a, b] = [mixed[last], mixed[other]];
    if (a !== undefined && b !== undefined) [mixed[last], mixed[other]] = [b, a];
  }
  return mixed;
}
