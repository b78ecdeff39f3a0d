import { toKey } from "../../primitives/byteKey.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import type { Hash } from "../../primitives/hash.ts";
import { encodeRlpList } from "../../primitives/rlp.ts";
import { encodeBodyTransaction, type Transaction } from "../../types/transaction.ts";
import {
  ANNOUNCE_DELAY_MS,
  FETCH_INTERVAL_MS,
  MAX_ANNOUNCED_TRANSACTIONS,
  MAX_COLLECTED_TRANSACTIONS,
  MAX_FETCHED_TRANSACTIONS,
  MAX_FETCHES_OF_PEER,
  MAX_OFFERED_TRANSACTIONS,
  MAX_TRANSACTION_ANNOUNCEMENTS,
  RECOVERY_MS,
  REOFFER_AFTER_MS,
  SMALL_NETWORK_PEERS,
  TRANSACTIONS_MESSAGE_BYTES,
} from "./limits.ts";
import { encodeMessage } from "./messageCodec.ts";
import { CODES, type TransactionAnnouncement } from "./messageCodes.ts";
import type { EthPeer } from "./peer.ts";
import type { EthPool } from "./ports.ts";
import { NO_COUNTS, type ValidationCounts } from "./transactionScore.ts";

/**
 * Transaction gossip (p2p.md#transaction-gossip).
 *
 *     pool ── announce ──> few peers: local transactions in full, those of peers by hash
 *                          many peers: full copies to about sqrt(n) peers, hashes to the rest
 *     peers ── full copies ──> pool          peers ── hashes ── every 500 ms, unknown ones requested ──> pool
 *
 * Invariants: no peer is sent a hash or a transaction that it is known to have; a transaction is requested from one
 * peer at a time, and after a failure from another, or again; everything that waits is bounded. Not done here:
 * validating transactions (the pool).
 */
export interface TransactionGossip {
  /** To be called for each addition to the pool, local or remote. */
  announce(transactions: readonly Transaction[]): void;
  /** Announces the whole pool, by hashes, to a new peer. */
  sendPool(peer: EthPeer): void;
  /** Unsolicited transactions arrived. */
  receive(peer: EthPeer, transactions: readonly Transaction[]): ValidationCounts | Promise<ValidationCounts>;
  /** Transactions arrived from an ignored peer. */
  noteIgnored(peer: EthPeer): void;
  receiveAnnounced(peer: EthPeer, announcements: readonly TransactionAnnouncement[]): void;
  close(): void;
}

/**
 * The protocol only announces blob transactions; the pool keeps them without the blobs, so they cannot be served at
 * all.
 */
const BLOB_TYPE = 3;

interface PendingAnnouncement {
  readonly key: string;
  readonly transaction: Transaction;
}

export function createTransactionGossip(parts: {
  readonly peers: () => readonly EthPeer[];
  readonly pool: EthPool;
  readonly clock: Clock;
  /** 0 to 1. */
  readonly chance: () => number;
  /** The peer has blocks that this node lacks. */
  readonly isAhead: (peer: EthPeer) => boolean;
}): TransactionGossip {
  const { pool, clock } = parts;
  let collected: PendingAnnouncement[] = [];
  let announceTimer: Timer | undefined;
  let fetchTimer: Timer | undefined;
  /** Requested from some peer. */
  const inFlight = new Set<string>();
  /** Open requests by peer. */
  const openRequests = new WeakMap<EthPeer, number>();
  /** Peers whose last request failed: others are asked before them. */
  const lateResponders = new WeakSet<EthPeer>();
  /** Offered to the pool, oldest first, with the time. */
  const offered = new Map<string, number>();

  function sendCollected(): void {
    announceTimer?.cancel();
    announceTimer = undefined;
    const pending = collected;
    collected = [];
    const peers = parts.peers();
    if (peers.length > SMALL_NETWORK_PEERS) sendToSome(peers, pending);
    else sendToFew(peers, pending);
  }

  /**
   * Sends full copies to a random selection of all peers, whether they have the transactions or not, and hashes to the
   * rest.
   */
  function sendToSome(peers: readonly EthPeer[], pending: readonly PendingAnnouncement[]): void {
    const batch = createAnnouncementBatch(pending);
    const fullCount = Math.round(Math.sqrt(peers.length));
    for (const [index, peer] of shuffled(peers, parts.chance).entries()) {
      if (index < fullCount) batch.sendFull(peer);
      else batch.sendHashes(peer);
    }
  }

  /** The peer that sent a transaction has most likely sent it to the others as well. */
  function sendToFew(peers: readonly EthPeer[], pending: readonly PendingAnnouncement[]): void {
    const isOfPeer = ({ key }: PendingAnnouncement): boolean =>
      peers.some(({ knownTransactions }) => knownTransactions.has(key));
    const ofPeers = createAnnouncementBatch(pending.filter(isOfPeer));
    const ours = createAnnouncementBatch(pending.filter((pending) => !isOfPeer(pending)));
    for (const peer of peers) {
      ours.sendFull(peer);
      ofPeers.sendHashes(peer);
    }
  }

  function fetchAnnounced(): void {
    fetchTimer = undefined;
    const peers = parts.peers();
    for (const peer of [
      ...peers.filter((one) => !lateResponders.has(one)),
      ...peers.filter((one) => lateResponders.has(one)),
    ]) {
      if (!pool.isOpen) peer.announced.clear();
      void fetchFrom(peer);
    }
    scheduleFetch();
  }

  /** The next hashes to request from a peer that announced them. */
  function takeMissing(peer: EthPeer): readonly Hash[] {
    const wanted: Hash[] = [];
    for (const [key, hash] of peer.announced) {
      if (wanted.length === MAX_FETCHED_TRANSACTIONS) break;
      // Requested from another peer: if that fails, this one will be asked.
      if (inFlight.has(key)) continue;
      peer.announced.delete(key);
      if (!isKnown(key, hash)) wanted.push(hash);
    }
    return wanted;
  }

  /** Continues without a pause while there is a full request's worth. */
  async function fetchFrom(peer: EthPeer): Promise<void> {
    while ((openRequests.get(peer) ?? 0) < MAX_FETCHES_OF_PEER) {
      const wanted = takeMissing(peer);
      if (wanted.length === 0) return;
      const isComplete = await fetch(peer, wanted);
      if (!isComplete || wanted.length < MAX_FETCHED_TRANSACTIONS) return;
    }
  }

  async function fetch(peer: EthPeer, wanted: readonly Hash[]): Promise<boolean> {
    const keys = wanted.map(toKey);
    const count = (change: number): void =>
      void openRequests.set(peer, (openRequests.get(peer) ?? 0) + change);
    for (const key of keys) inFlight.add(key);
    count(1);
    const response = await peer.requestTransactions(wanted);
    count(-1);
    for (const key of keys) inFlight.delete(key);
    if (!response.ok) {
      if (response.error.code !== "busy") lateResponders.add(peer);
      putBack(peer, wanted);
      return false;
    }
    lateResponders.delete(peer);
    const asked = new Set(keys);
    await take(
      peer,
      response.value.filter(({ hash }) => asked.has(toKey(hash))),
    );
    return true;
  }

  /** No other peer may have announced these hashes. A peer that never responds is disconnected after some requests. */
  function putBack(peer: EthPeer, wanted: readonly Hash[]): void {
    for (const hash of wanted) {
      if (peer.announced.size < MAX_ANNOUNCED_TRANSACTIONS) peer.announced.set(toKey(hash), hash);
    }
    scheduleFetch();
  }

  function scheduleFetch(): void {
    if (fetchTimer !== undefined || parts.peers().every(({ announced }) => announced.size === 0)) return;
    fetchTimer = clock.at(clock.nowMs() + FETCH_INTERVAL_MS, fetchAnnounced);
  }

  function take(
    peer: EthPeer,
    transactions: readonly Transaction[],
  ): ValidationCounts | Promise<ValidationCounts> {
    const fresh: Transaction[] = [];
    for (const transaction of transactions) {
      const key = toKey(transaction.hash);
      peer.knownTransactions.add(key);
      if (isKnown(key, transaction.hash)) continue;
      offered.delete(key);
      offered.set(key, clock.nowMs());
      fresh.push(transaction);
    }
    for (const oldest of offered.keys()) {
      if (offered.size <= MAX_OFFERED_TRANSACTIONS) break;
      offered.delete(oldest);
    }
    if (fresh.length === 0) return NO_COUNTS;
    peer.spend(fresh.length * RECOVERY_MS);
    const validating = pool.offer(fresh, { isAhead: parts.isAhead(peer) });
    if (validating instanceof Promise) return validating.then((counts) => record(peer, counts));
    return record(peer, validating);
  }

  /** A trusted peer is only ignored for a while; any other that continues is disconnected. */
  function record(peer: EthPeer, counts: ValidationCounts): ValidationCounts {
    peer.transactionScore.note(counts);
    if (peer.transactionScore.isIgnored) peer.announced.clear();
    disconnectIfUseless(peer);
    return counts;
  }

  function disconnectIfUseless(peer: EthPeer): void {
    if (peer.transactionScore.isAtLimit && !peer.isTrusted)
      peer.disconnect("uselessPeer", "too many of its transactions were rejected");
  }

  function isKnown(key: string, hash: Hash): boolean {
    const offeredMs = offered.get(key);
    if (offeredMs !== undefined && clock.nowMs() - offeredMs < REOFFER_AFTER_MS) return true;
    return pool.get(hash) !== undefined;
  }

  return {
    announce(transactions) {
      // Peers that connect later get the whole pool.
      if (parts.peers().length === 0) return;
      for (const transaction of transactions) {
        if (transaction.type !== BLOB_TYPE) collected.push({ key: toKey(transaction.hash), transaction });
      }
      if (collected.length >= MAX_COLLECTED_TRANSACTIONS) sendCollected();
      else announceTimer ??= clock.at(clock.nowMs() + ANNOUNCE_DELAY_MS, sendCollected);
    },
    sendPool(peer) {
      if (!pool.isOpen) return;
      const pending: PendingAnnouncement[] = [];
      for (const transaction of pool.transactions()) {
        if (transaction.type !== BLOB_TYPE) pending.push({ key: toKey(transaction.hash), transaction });
      }
      createAnnouncementBatch(pending).sendHashes(peer);
    },
    receive(peer, transactions) {
      return pool.isOpen ? take(peer, transactions) : NO_COUNTS;
    },
    noteIgnored(peer) {
      peer.transactionScore.noteIgnored();
      disconnectIfUseless(peer);
    },
    receiveAnnounced(peer, announcements) {
      if (!pool.isOpen || peer.transactionScore.isIgnored) return;
      for (const { hash } of announcements) {
        if (peer.announced.size >= MAX_ANNOUNCED_TRANSACTIONS) break;
        const key = toKey(hash);
        if (!isKnown(key, hash)) peer.announced.set(key, hash);
      }
      scheduleFetch();
    },
    close() {
      announceTimer?.cancel();
      fetchTimer?.cancel();
    },
  };
}

/**
 * An announcement batch for several peers, each of which gets the transactions that it is not known to have; equal
 * messages are encoded once.
 */
interface AnnouncementBatch {
  sendFull(peer: EthPeer): void;
  sendHashes(peer: EthPeer): void;
}

function createAnnouncementBatch(pending: readonly PendingAnnouncement[]): AnnouncementBatch {
  const encodedBatches = new Map<BatchEncoder, readonly Uint8Array[]>();

  function send(peer: EthPeer, code: number, encode: BatchEncoder): void {
    const unknown = pending.filter(({ key }) => !peer.knownTransactions.has(key));
    if (unknown.length === 0) return;
    const isWhole = unknown.length === pending.length;
    const messages = (isWhole ? encodedBatches.get(encode) : undefined) ?? encode(unknown);
    if (isWhole) encodedBatches.set(encode, messages);
    for (const { key } of unknown) peer.knownTransactions.add(key);
    for (const message of messages) peer.send(code, message);
  }

  return {
    sendFull: (peer) => send(peer, CODES.transactions, encodeFull),
    sendHashes: (peer) => send(peer, CODES.newPooledTransactionHashes, encodeHashes),
  };
}

type BatchEncoder = (pending: readonly PendingAnnouncement[]) => readonly Uint8Array[];

/** Messages of at most 1 MiB, each with at least one transaction. */
function encodeFull(pending: readonly PendingAnnouncement[]): readonly Uint8Array[] {
  const messages: Uint8Array[] = [];
  let bytes = 0;
  let batch: Uint8Array[] = [];
  for (const { transaction } of pending) {
    const encoded = encodeBodyTransaction(transaction);
    if (batch.length > 0 && bytes + encoded.length > TRANSACTIONS_MESSAGE_BYTES) {
      messages.push(encodeRlpList(batch));
      batch = [];
      bytes = 0;
    }
    batch.push(encoded);
    bytes += encoded.length;
  }
  messages.push(encodeRlpList(batch));
  return messages;
}

function encodeHashes(pending: readonly PendingAnnouncement[]): readonly Uint8Array[] {
  const messages: Uint8Array[] = [];
  for (let from = 0; from < pending.length; from += MAX_TRANSACTION_ANNOUNCEMENTS) {
    const announcements = pending
      .slice(from, from + MAX_TRANSACTION_ANNOUNCEMENTS)
      .map(({ transaction: { type, hash, raw } }) => ({ type, size: raw.length, hash }));
    messages.push(encodeMessage({ kind: "newPooledTransactionHashes", announcements }));
  }
  return messages;
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
