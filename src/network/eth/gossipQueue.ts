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
}

interface Unread {
  readonly payload: Uint8Array;
  transactions: Iterator<Transaction> | undefined;
  accepted: number;
  rejected: number;
}

interface PeerQueue {
  readonly messages: Unread[];
  bytes: number;
  batch: number;
}

export function createGossipQueue<Peer>(parts: GossipQueueParts<Peer>): GossipQueue<Peer> {
  const { defer, inShare, open, validate, onBreach } = parts;
  /** Every queue has at least one message, of which a batch is in progress or scheduled. */
  const queues = new Map<Peer, PeerQueue>();
  let unreadBytes = 0;

  function forget(peer: Peer): void {
    unreadBytes -= queues.get(peer)?.bytes ?? 0;
    queues.delete(peer);
  }

  function readLater(peer: Peer, queue: PeerQueue): void {
    defer(() => {
      if (queues.get(peer) === queue) inShare(peer, () => readBatch(peer, queue));
    });
  }

  function readBatch(peer: Peer, queue: PeerQueue): void {
    const [message] = queue.messages;
    // The peer may have left while it waited for its budget.
    if (message === undefined || queues.get(peer) !== queue) return;
    try {
      message.transactions ??= open(message.payload);
      const { batch, isEnd } = take(message.transactions, queue.batch);
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

  function settle(
    peer: Peer,
    queue: PeerQueue,
    { isEnd, counts }: { readonly isEnd: boolean; readonly counts: ValidationCounts },
  ): void {
    const [message] = queue.messages;
    if (message === undefined || queues.get(peer) !== queue) return;
    message.accepted += counts.accepted;
    message.rejected += counts.rejected;
    queue.batch = counts.rejected > 0 ? FIRST_BATCH : Math.min(2 * queue.batch, LARGEST_BATCH);
    const isAbandoned = message.rejected >= MAX_REJECTED_OF_MESSAGE && message.rejected > message.accepted;
    if (isEnd || isAbandoned) {
      queue.messages.shift();
      queue.bytes -= message.payload.length;
      unreadBytes -= message.payload.length;
    }
    if (queue.messages.length > 0) readLater(peer, queue);
    else queues.delete(peer);
  }

  return {
    enqueue(peer, payload) {
      const message: Unread = { payload, transactions: undefined, accepted: 0, rejected: 0 };
      const queue = queues.get(peer);
      if (queue === undefined) {
        const opened: PeerQueue = { messages: [message], bytes: payload.length, batch: FIRST_BATCH };
        queues.set(peer, opened);
        unreadBytes += payload.length;
        readLater(peer, opened);
        return;
      }
      const isFull =
        queue.bytes + payload.length > MAX_UNREAD_PEER_BYTES ||
        unreadBytes + payload.length > MAX_UNREAD_GOSSIP_BYTES;
      if (isFull) return;
      queue.messages.push(message);
      queue.bytes += payload.length;
      unreadBytes += payload.length;
    },
    forget,
  };
}

/** Up to `most` transactions or SLICE_BYTES. */
function take(
  transactions: Iterator<Transaction>,
  most: number,
): { readonly batch: readonly Transaction[]; readonly isEnd: boolean } {
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
