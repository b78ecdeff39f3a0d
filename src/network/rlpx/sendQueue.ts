import { MAX_QUEUED_CONSENSUS_BYTES, MAX_QUEUED_ORDINARY_BYTES, PIECE_BYTES } from "../limits.ts";
import type { BufferShare } from "./bufferBudget.ts";
import type { MessagePriority } from "./messagePriority.ts";

/** A message ready for its frame, compressed; several connections share the bytes of one message. */
interface QueuedMessage {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** Fixed overhead per message. */
const OVERHEAD_BYTES = 256;

/**
 * Queue of one connection's outgoing messages.
 *
 *     base protocol  >  consensus up to 64 KiB  >  larger consensus  >  everything else
 *
 * Invariants: the order within a row is kept; a Pong waits for one frame at most; votes do not wait for blocks; a large
 * message that is queued or being sent is not queued again. Each row is bounded in bytes: new consensus messages displace
 * the oldest, because the newest matter most; other messages are refused when there is no room.
 */
export class SendQueue {
  /** Queued bytes by priority. */
  readonly waitingBytes = { consensus: 0, ordinary: 0 };
  private readonly share: Pick<BufferShare, "reserve" | "release">;
  private readonly base: QueuedMessage[] = [];
  private readonly votes: QueuedMessage[] = [];
  private readonly blocks: QueuedMessage[] = [];
  private readonly ordinary: QueuedMessage[] = [];
  /** Ids of large messages that are queued or being sent, by their bytes. */
  private readonly large = new Map<Uint8Array, number>();
  private current: QueuedMessage | undefined;

  /** Without a share of the common budget, only the queue's own bounds apply. */
  constructor(
    share: Pick<BufferShare, "reserve" | "release"> = { reserve: () => true, release: () => undefined },
  ) {
    this.share = share;
  }

  get isEmpty(): boolean {
    return (
      this.base.length === 0 &&
      this.votes.length === 0 &&
      this.blocks.length === 0 &&
      this.ordinary.length === 0
    );
  }

  /** Queues a base protocol message, at most one per id. */
  pushBase(message: QueuedMessage): void {
    if (!this.base.some(({ id }) => id === message.id)) this.base.push(message);
  }

  /** Queues a message; false when there is no room. */
  push(message: QueuedMessage, priority: MessagePriority): boolean {
    const { id, bytes } = message;
    const isLarge = bytes.length > PIECE_BYTES;
    if (isLarge && this.large.get(bytes) === id) return true;
    const cost = costOf(message);
    if (!this.hasRoom(cost, priority) || !this.share.reserve(bytes, priority)) return false;
    if (isLarge) this.large.set(bytes, id);
    this.waitingBytes[priority] += cost;
    if (priority === "ordinary") this.ordinary.push(message);
    else if (isLarge) this.blocks.push(message);
    else this.votes.push(message);
    return true;
  }

  /** The next message to send. It occupies the budget until the next call, or until `clear`. */
  shift(): QueuedMessage | undefined {
    if (this.current !== undefined) this.forget(this.current);
    const base = this.base.shift();
    this.current =
      base === undefined
        ? (this.takeConsensus(this.votes) ?? this.takeConsensus(this.blocks) ?? this.takeOrdinary())
        : undefined;
    return base ?? this.current;
  }

  /** Drops queued messages other than consensus. */
  dropOrdinary(): void {
    for (let dropped = this.takeOrdinary(); dropped !== undefined; dropped = this.takeOrdinary())
      this.forget(dropped);
  }

  /** Drops the oldest queued consensus message, a large one first; false when there is none. */
  dropOldestConsensus(): boolean {
    const dropped = this.takeConsensus(this.blocks) ?? this.takeConsensus(this.votes);
    if (dropped === undefined) return false;
    this.forget(dropped);
    return true;
  }

  /** Drops queued messages; the one being sent stays. */
  dropWaiting(): void {
    this.base.length = 0;
    this.dropOrdinary();
    while (this.dropOldestConsensus()) {}
  }

  clear(): void {
    this.dropWaiting();
    if (this.current !== undefined) this.forget(this.current);
    this.current = undefined;
  }

  private hasRoom(cost: number, priority: MessagePriority): boolean {
    if (priority === "ordinary") return this.waitingBytes.ordinary + cost <= MAX_QUEUED_ORDINARY_BYTES;
    while (this.waitingBytes.consensus + cost > MAX_QUEUED_CONSENSUS_BYTES) {
      if (!this.dropOldestConsensus()) return false;
    }
    return true;
  }

  private takeConsensus(row: QueuedMessage[]): QueuedMessage | undefined {
    const message = row.shift();
    if (message !== undefined) this.waitingBytes.consensus -= costOf(message);
    return message;
  }

  private takeOrdinary(): QueuedMessage | undefined {
    const message = this.ordinary.shift();
    if (message !== undefined) this.waitingBytes.ordinary -= costOf(message);
    return message;
  }

  private forget(message: QueuedMessage): void {
    this.share.release(message.bytes);
    if (this.large.get(message.bytes) === message.id) this.large.delete(message.bytes);
  }
}

function costOf({ bytes }: QueuedMessage): number {
  return bytes.length + OVERHEAD_BYTES;
}
