import { toKey } from "../../primitives/byteKey.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import type { Hash } from "../../primitives/hash.ts";
import {
  FETCH_INTERVAL_MS,
  MAX_ANNOUNCED_TRANSACTIONS,
  MAX_FETCHED_TRANSACTIONS,
  MAX_FETCHES_OF_PEER,
} from "./limits.ts";
import type { TransactionAnnouncement } from "./messages.ts";
import type { EthPeer } from "./peer.ts";
import type { EthPool } from "./ports.ts";
import type { TransactionIntake } from "./transactionIntake.ts";

/**
 * Requests the transactions that peers announce by hash, every 500 ms (p2p.md#transaction-gossip).
 *
 * Invariants: a transaction is requested from one peer at a time, and after a failure from another, or again; what
 * waits is bounded per peer.
 */
export interface TransactionFetcher {
  receiveAnnounced(peer: EthPeer, announcements: readonly Pick<TransactionAnnouncement, "hash">[]): void;
  close(): void;
}

export interface TransactionFetcherParts {
  readonly peers: () => readonly EthPeer[];
  readonly pool: Pick<EthPool, "isOpen">;
  readonly clock: Clock;
  readonly intake: Pick<TransactionIntake, "isKnown" | "take">;
}

export function createTransactionFetcher(parts: TransactionFetcherParts): TransactionFetcher {
  return new Fetcher(parts);
}

class Fetcher implements TransactionFetcher {
  private readonly parts: TransactionFetcherParts;
  private timer: Timer | undefined;
  /** Requested from some peer. */
  private readonly inFlight = new Set<string>();
  /** Open requests by peer. */
  private readonly openRequests = new WeakMap<EthPeer, number>();
  /** Peers whose last request failed: others are asked before them. */
  private readonly lateResponders = new WeakSet<EthPeer>();

  constructor(parts: TransactionFetcherParts) {
    this.parts = parts;
  }

  receiveAnnounced(peer: EthPeer, announcements: readonly Pick<TransactionAnnouncement, "hash">[]): void {
    const { pool, intake } = this.parts;
    if (!pool.isOpen || peer.transactionScore.isIgnored) return;
    for (const { hash } of announcements) {
      if (peer.announced.size >= MAX_ANNOUNCED_TRANSACTIONS) break;
      const key = toKey(hash);
      if (!intake.isKnown(key, hash)) peer.announced.set(key, hash);
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

  /** Continues without a pause while there is a full request's worth. */
  private async fetchFrom(peer: EthPeer): Promise<void> {
    while ((this.openRequests.get(peer) ?? 0) < MAX_FETCHES_OF_PEER) {
      const wanted = this.takeMissing(peer);
      if (wanted.length === 0) return;
      const isComplete = await this.fetch(peer, wanted);
      if (!isComplete || wanted.length < MAX_FETCHED_TRANSACTIONS) return;
    }
  }

  /** The next hashes to request from a peer that announced them. */
  private takeMissing(peer: EthPeer): readonly Hash[] {
    const wanted: Hash[] = [];
    for (const [key, hash] of peer.announced) {
      if (wanted.length === MAX_FETCHED_TRANSACTIONS) break;
      // Requested from another peer: if that fails, this one will be asked.
      if (this.inFlight.has(key)) continue;
      peer.announced.delete(key);
      if (!this.parts.intake.isKnown(key, hash)) wanted.push(hash);
    }
    return wanted;
  }

  private async fetch(peer: EthPeer, wanted: readonly Hash[]): Promise<boolean> {
    const keys = wanted.map(toKey);
    for (const key of keys) this.inFlight.add(key);
    this.countRequest(peer, 1);
    const response = await peer.requestTransactions(wanted);
    this.countRequest(peer, -1);
    for (const key of keys) this.inFlight.delete(key);
    if (!response.ok) {
      if (response.error.code !== "busy") this.lateResponders.add(peer);
      this.putBack(peer, wanted);
      return false;
    }
    this.lateResponders.delete(peer);
    const asked = new Set(keys);
    await this.parts.intake.take(
      peer,
      response.value.filter(({ hash }) => asked.has(toKey(hash))),
    );
    return true;
  }

  private countRequest(peer: EthPeer, change: number): void {
    this.openRequests.set(peer, (this.openRequests.get(peer) ?? 0) + change);
  }

  /** No other peer may have announced these hashes. A peer that never responds is disconnected after some requests. */
  private putBack(peer: EthPeer, wanted: readonly Hash[]): void {
    for (const hash of wanted) {
      if (peer.announced.size < MAX_ANNOUNCED_TRANSACTIONS) peer.announced.set(toKey(hash), hash);
    }
    this.schedule();
  }
}
