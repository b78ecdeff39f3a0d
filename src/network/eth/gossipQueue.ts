import type { Transaction } from "../../types/transaction.ts";
import {
  FIRST_BATCH,
  LARGEST_BATCH,
  MAX_REJECTED_OF_MESSAGE,
  MAX_UNREAD_GOSSIP_BYTES,
  MAX_UNREAD_PEER_BYTES,
  SLICE_BYTES,
} from "./limits.ts";
import type { ValidationCounts } from "./transactionScore.ts";

/**
 * Reads peers' unsolicited transactions a few at a time, after all other input: a proposal or a vote does not wait
 * behind a flood of them.
 *
 *     message ──> waits behind the peer's others ──> a batch decoded ──> senders recovered, validated ──> a larger batch
 *                                                                                                   └─> many rejected: abandoned
 *
 * Invariants: one batch of a peer is in progress at a time, within the peer's time budget; its transactions reach the
 * pool in order; what waits is bounded in bytes, and the newest is dropped: other peers have it, and announce it again.
 */
export interface GossipQueue<Peer> {
  enqueue(peer: Peer, payload: Uint8Array): void;
  forget(peer: Peer): void;
}

export interface GossipQueueParts<Peer> {
  /** Runs work after pending I/O. */
  readonly defer: (action: () => void) => void;
  /** Does the work now, or when the peer's time budget allows. */
  readonly inShare: (peer: Peer, work: () => void) => void;
  /** The message's transactions, decoded lazily; throws RangeError for malformed input. */
  readonly open: (payload: Uint8Array) => Iterator<Transaction>;
  /** Synchronous where the result is known at once. */
  readonly validate: (
    peer: Peer,
    transactions: readonly Transaction[],
  ) => ValidationCounts | Promise<ValidationCounts>;
  readonly onBreach: (peer: Peer, detail: string) => void;
  /** A message was dropped, because too much waits. */
  readonly onDropped: (peer: Peer) => void;
}

export function createGossipQueue<Peer>(parts: GossipQueueParts<Peer>): GossipQueue<Peer> {
  const { defer, inShare, validate, onBreach } = parts;
  /** Each has at least one message, of which a batch is in progress or scheduled. */
  const queues = new Map<Peer, PeerMessages>();
  let unreadBytes = 0;

  function forget(peer: Peer): void {
    unreadBytes -= queues.get(peer)?.bytes ?? 0;
    queues.delete(peer);
  }

  function readLater(peer: Peer, queue: PeerMessages): void {
    defer(() => {
      if (queues.get(peer) === queue) inShare(peer, () => readBatch(peer, queue));
    });
  }

  function readBatch(peer: Peer, queue: PeerMessages): void {
    // The peer may have left while it waited for its budget.
    if (queues.get(peer) !== queue) return;
    try {
      const { batch, isEnd } = queue.next(parts.open);
      const end = (counts: ValidationCounts): void => settle(peer, queue, { isEnd, counts });
      const validating = validate(peer, batch);
      if (validating instanceof Promise) void validating.then(end);
      else end(validating);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      forget(peer);
      onBreach(peer, `transactions: ${error.message}`);
    }
  }

  function settle(peer: Peer, queue: PeerMessages, result: BatchResult): void {
    if (queues.get(peer) !== queue) return;
    unreadBytes -= queue.settle(result);
    if (queue.isEmpty) queues.delete(peer);
    else readLater(peer, queue);
  }

  return {
    enqueue(peer, payload) {
      const known = queues.get(peer);
      const queue = known ?? new PeerMessages();
      const bytes = payload.length;
      const isFull =
        queue.bytes + bytes > MAX_UNREAD_PEER_BYTES || unreadBytes + bytes > MAX_UNREAD_GOSSIP_BYTES;
      if (known !== undefined && isFull) {
        parts.onDropped(peer);
        return;
      }
      queue.push(payload);
      unreadBytes += bytes;
      if (known !== undefined) return;
      queues.set(peer, queue);
      readLater(peer, queue);
    },
    forget,
  };
}

interface Unread {
  readonly payload: Uint8Array;
  transactions: Iterator<Transaction> | undefined;
  accepted: number;
  rejected: number;
}

interface Batch {
  readonly batch: readonly Transaction[];
  /** The message has no more transactions. */
  readonly isEnd: boolean;
}

interface BatchResult {
  readonly isEnd: boolean;
  readonly counts: ValidationCounts;
}

/** One peer's unread messages, of which the oldest is read batch by batch. */
class PeerMessages {
  private readonly messages: Unread[] = [];
  private batchSize = FIRST_BATCH;
  /** Of all messages, until they have been read to the end. */
  bytes = 0;

  get isEmpty(): boolean {
    return this.messages.length === 0;
  }

  push(payload: Uint8Array): void {
    this.messages.push({ payload, transactions: undefined, accepted: 0, rejected: 0 });
    this.bytes += payload.length;
  }

  /** The next transactions; throws RangeError for malformed input. */
  next(open: (payload: Uint8Array) => Iterator<Transaction>): Batch {
    const [message] = this.messages;
    if (message === undefined) return { batch: [], isEnd: true };
    message.transactions ??= open(message.payload);
    return take(message.transactions, this.batchSize);
  }

  /** Counts a batch's results, and returns the bytes of the message if it was read to the end, or is abandoned. */
  settle({ isEnd, counts }: BatchResult): number {
    const [message] = this.messages;
    if (message === undefined) return 0;
    message.accepted += counts.accepted;
    message.rejected += counts.rejected;
    this.batchSize = counts.rejected > 0 ? FIRST_BATCH : Math.min(2 * this.batchSize, LARGEST_BATCH);
    const isAbandoned = message.rejected >= MAX_REJECTED_OF_MESSAGE && message.rejected > message.accepted;
    if (!isEnd && !isAbandoned) return 0;
    this.messages.shift();
    this.bytes -= message.payload.length;
    return message.payload.length;
  }
}

/** Up to `most` transactions or SLICE_BYTES. */
function take(transactions: Iterator<Transaction>, most: number): Batch {
  const batch: Transaction[] = [];
  let bytes = 0;
  while (batch.length < most && bytes < SLICE_BYTES) {
    const { done, value } = transactions.next();
    if (done === true) return { batch, isEnd: true };
    batch.push(value);
    bytes += value.raw.length;
  }
  return { batch, isEnd: false };
}
