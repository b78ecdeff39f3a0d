import type { PeerCounts } from "../../txpool/peerValidation.ts";
import type { Transaction } from "../../types/transaction.ts";
import {
  FIRST_BATCH,
  LARGEST_BATCH,
  MAX_REJECTED_OF_MESSAGE,
  MAX_UNREAD_GOSSIP_BYTES,
  MAX_UNREAD_PEER_BYTES,
  SLICE_BYTES,
} from "./limits.ts";

interface GossipQueueParts<Peer> {
  /** Runs work after pending I/O. */
  readonly defer: (action: () => void) => void;
  /** Does the work now, or when the peer's time budget permits. */
  readonly inShare: (peer: Peer, work: () => void) => void;
  /** The message's transactions, decoded lazily; throws RangeError for malformed input. */
  readonly open: (payload: Uint8Array) => Iterator<Transaction>;
  /** Validates transactions; synchronous when the result is known at once. */
  readonly validate: (peer: Peer, transactions: readonly Transaction[]) => PeerCounts | Promise<PeerCounts>;
  readonly onBreach: (peer: Peer, detail: string) => void;
  /** Called when a message was dropped because too much waits. */
  readonly onDropped: (peer: Peer) => void;
}

/**
 * Reads peers' unsolicited transactions a few at a time, after all other input: a proposal or a vote does not wait behind a
 * flood of them.
 *
 *     message ──> waits behind the peer's others ──> a batch decoded ──> senders recovered, validated ──> a larger batch
 *                                                                                                   └─> many rejected: abandoned
 *
 * Invariants: one batch of a peer is in progress at a time, within the peer's time budget; its transactions reach the pool
 * in order; waiting messages are bounded in bytes, and the newest is dropped: other peers have it, and announce it again.
 */
export class GossipQueue<Peer> {
  private readonly parts: GossipQueueParts<Peer>;
  /** Queues by peer; each has at least one message, of which a batch is in progress or scheduled. */
  private readonly queues = new Map<Peer, PeerMessages>();
  private unreadBytes = 0;

  constructor(parts: GossipQueueParts<Peer>) {
    this.parts = parts;
  }

  enqueue(peer: Peer, payload: Uint8Array): void {
    const known = this.queues.get(peer);
    const queue = known ?? new PeerMessages();
    const bytes = payload.length;
    const isFull =
      queue.bytes + bytes > MAX_UNREAD_PEER_BYTES || this.unreadBytes + bytes > MAX_UNREAD_GOSSIP_BYTES;
    if (known !== undefined && isFull) {
      this.parts.onDropped(peer);
      return;
    }
    queue.push(payload);
    this.unreadBytes += bytes;
    if (known !== undefined) return;
    this.queues.set(peer, queue);
    this.readLater(peer, queue);
  }

  forget(peer: Peer): void {
    this.unreadBytes -= this.queues.get(peer)?.bytes ?? 0;
    this.queues.delete(peer);
  }

  private readLater(peer: Peer, queue: PeerMessages): void {
    this.parts.defer(() => {
      if (this.queues.get(peer) === queue) this.parts.inShare(peer, () => this.readBatch(peer, queue));
    });
  }

  private readBatch(peer: Peer, queue: PeerMessages): void {
    // The peer may have left while it waited for its budget.
    if (this.queues.get(peer) !== queue) return;
    try {
      const { batch, isEnd } = queue.next(this.parts.open);
      const end = (counts: PeerCounts): void => this.settle(peer, queue, { isEnd, counts });
      const validating = this.parts.validate(peer, batch);
      if (validating instanceof Promise) void validating.then(end);
      else end(validating);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.forget(peer);
      this.parts.onBreach(peer, `transactions: ${error.message}`);
    }
  }

  private settle(peer: Peer, queue: PeerMessages, result: BatchResult): void {
    if (this.queues.get(peer) !== queue) return;
    this.unreadBytes -= queue.settle(result);
    if (queue.isEmpty) this.queues.delete(peer);
    else this.readLater(peer, queue);
  }
}

interface Unread {
  readonly payload: Uint8Array;
  transactions: Iterator<Transaction> | undefined;
  accepted: number;
  rejected: number;
}

interface Batch {
  readonly batch: readonly Transaction[];
  /** True when the message has no more transactions. */
  readonly isEnd: boolean;
}

interface BatchResult {
  readonly isEnd: boolean;
  readonly counts: PeerCounts;
}

/** One peer's unread messages; the oldest is read batch by batch. */
class PeerMessages {
  private readonly messages: Unread[] = [];
  private batchSize = FIRST_BATCH;
  /** Bytes of messages that have not been read to the end. */
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

/** Takes up to `most` transactions or SLICE_BYTES. */
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
