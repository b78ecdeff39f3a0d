import { encodeRlpList } from "../../primitives/rlp.ts";
import { encodeBodyTransaction, type Transaction } from "../../types/transaction.ts";
import { MAX_TRANSACTION_ANNOUNCEMENTS, TRANSACTIONS_MESSAGE_BYTES } from "./limits.ts";
import { encodeMessage } from "./messageCodec.ts";
import { CODES, DETAILED_ANNOUNCEMENTS_VERSION } from "./messages.ts";
import type { Peer } from "./peer.ts";

export interface PendingAnnouncement {
  readonly key: string;
  readonly transaction: Transaction;
}

/**
 * A batch of announcements for several peers, each of which gets the transactions that it is not known to have; equal
 * messages are encoded once.
 */
export class AnnouncementBatch {
  private readonly pending: readonly PendingAnnouncement[];
  private readonly encodedBatches = new Map<BatchEncoder, readonly Uint8Array[]>();

  constructor(pending: readonly PendingAnnouncement[]) {
    this.pending = pending;
  }

  sendFull(peer: Peer): void {
    this.send(peer, CODES.transactions, encodeFull);
  }

  sendHashes(peer: Peer): void {
    const isDetailed = peer.version >= DETAILED_ANNOUNCEMENTS_VERSION;
    this.send(peer, CODES.newPooledTransactionHashes, isDetailed ? encodeDetailed : encodeBare);
  }

  private send(peer: Peer, code: number, encode: BatchEncoder): void {
    const unknown = this.pending.filter(({ key }) => !peer.knownTransactions.has(key));
    if (unknown.length === 0) return;
    const isWhole = unknown.length === this.pending.length;
    const messages = (isWhole ? this.encodedBatches.get(encode) : undefined) ?? encode(unknown);
    if (isWhole) this.encodedBatches.set(encode, messages);
    for (const { key } of unknown) peer.knownTransactions.add(key);
    for (const message of messages) peer.send(code, message);
  }
}

type BatchEncoder = (pending: readonly PendingAnnouncement[]) => readonly Uint8Array[];

/** Encodes messages of at most 1 MiB, each with at least one transaction. */
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

function encodeDetailed(pending: readonly PendingAnnouncement[]): readonly Uint8Array[] {
  return announcementsOf(pending).map((some) => {
    const announcements = some.map(({ transaction: { type, hash, raw } }) => ({
      type,
      size: raw.length,
      hash,
    }));
    return encodeMessage({ kind: "newPooledTransactionHashes", announcements });
  });
}

function encodeBare(pending: readonly PendingAnnouncement[]): readonly Uint8Array[] {
  return announcementsOf(pending).map((some) => {
    const hashes = some.map(({ transaction: { hash } }) => hash);
    return encodeMessage({ kind: "bareTransactionHashes", hashes });
  });
}

/** Announcements, split by the limit of hashes in one message. */
function announcementsOf(
  pending: readonly PendingAnnouncement[],
): readonly (readonly PendingAnnouncement[])[] {
  const messages: (readonly PendingAnnouncement[])[] = [];
  for (let from = 0; from < pending.length; from += MAX_TRANSACTION_ANNOUNCEMENTS) {
    messages.push(pending.slice(from, from + MAX_TRANSACTION_ANNOUNCEMENTS));
  }
  return messages;
}
