import { MAX_QUEUED_CONSENSUS_BYTES, MAX_QUEUED_ORDINARY_BYTES, PIECE_BYTES } from "../limits.ts";
import type { BufferShare } from "./bufferBudget.ts";
import type { MessagePriority } from "./messagePriority.ts";

/** A message ready for its frame, compressed; several connections share the bytes of one message. */
export interface QueuedMessage {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/**
 * Queue of one connection's outgoing messages.
 *
 *     base protocol  >  consensus up to 64 KiB  >  larger consensus  >  everything else
 *
 * Invariants: the order within a row is kept; a Pong waits for one frame at most; votes do not wait for blocks; a large
 * message that is queued or being sent is not queued again. Each row is bounded in bytes: new consensus messages
 * displace the oldest, for the newest count; other messages are refused when there is no room.
 */
export interface SendQueue {
  /** Queues a base protocol message, at most one per id. */
  pushBase(message: QueuedMessage): void;
  /** False when there is no room. */
  push(message: QueuedMessage, priority: MessagePriority): boolean;
  /** The next message to send. It occupies the budget until the next call, or until `clear`. */
  shift(): QueuedMessage | undefined;
  /** Drops queued messages other than consensus. */
  dropOrdinary(): void;
  /** Drops the oldest queued consensus message, a large one first; false when there is none. */
  dropOldestConsensus(): boolean;
  /** Drops queued messages; the one being sent stays. */
  dropWaiting(): void;
  clear(): void;
  readonly isEmpty: boolean;
  /** Queued bytes by priority. */
  readonly waitingBytes: Readonly<Record<MessagePriority, number>>;
}

/** Fixed overhead per message. */
const OVERHEAD_BYTES = 256;

/** Without a share of the common budget, only its own bounds apply. */
export function createSendQueue(
  share: Pick<BufferShare, "reserve" | "release"> = { reserve: () => true, release: () => undefined },
): SendQueue {
  const rows = {
    base: [] as QueuedMessage[],
    votes: [] as QueuedMessage[],
    blocks: [] as QueuedMessage[],
    ordinary: [] as QueuedMessage[],
  };
  const waitingBytes = { consensus: 0, ordinary: 0 };
  /** Ids of large messages that are queued or being sent, by their bytes. */
  const large = new Map<Uint8Array, number>();
  let current: QueuedMessage | undefined;

  function forget(message: QueuedMessage): void {
    share.release(message.bytes);
    if (large.get(message.bytes) === message.id) large.delete(message.bytes);
  }

  function takeFrom(row: "votes" | "blocks" | "ordinary"): QueuedMessage | undefined {
    const message = rows[row].shift();
    if (message !== undefined) waitingBytes[row === "ordinary" ? row : "consensus"] -= costOf(message);
    return message;
  }

  function dropOldestConsensus(): boolean {
    const dropped = takeFrom("blocks") ?? takeFrom("votes");
    if (dropped === undefined) return false;
    forget(dropped);
    return true;
  }

  function dropOrdinary(): void {
    for (let dropped = takeFrom("ordinary"); dropped !== undefined; dropped = takeFrom("ordinary"))
      forget(dropped);
  }

  function dropWaiting(): void {
    rows.base.length = 0;
    dropOrdinary();
    while (dropOldestConsensus()) {}
  }

  function hasRoom(cost: number, priority: MessagePriority): boolean {
    if (priority === "ordinary") return waitingBytes.ordinary + cost <= MAX_QUEUED_ORDINARY_BYTES;
    while (waitingBytes.consensus + cost > MAX_QUEUED_CONSENSUS_BYTES) {
      if (!dropOldestConsensus()) return false;
    }
    return true;
  }

  return {
    pushBase(message) {
      if (!rows.base.some(({ id }) => id === message.id)) rows.base.push(message);
    },
    push(message, priority) {
      const { id, bytes } = message;
      const isLarge = bytes.length > PIECE_BYTES;
      if (isLarge && large.get(bytes) === id) return true;
      const cost = costOf(message);
      if (!hasRoom(cost, priority) || !share.reserve(bytes, priority)) return false;
      if (isLarge) large.set(bytes, id);
      waitingBytes[priority] += cost;
      rows[priority === "ordinary" ? priority : isLarge ? "blocks" : "votes"].push(message);
      return true;
    },
    shift() {
      if (current !== undefined) forget(current);
      const base = rows.base.shift();
      current =
        base === undefined ? (takeFrom("votes") ?? takeFrom("blocks") ?? takeFrom("ordinary")) : undefined;
      return base ?? current;
    },
    dropOrdinary,
    dropOldestConsensus,
    dropWaiting,
    clear() {
      dropWaiting();
      if (current !== undefined) forget(current);
      current = undefined;
    },
    get isEmpty() {
      return Object.values(rows).every((row) => row.length === 0);
    },
    waitingBytes,
  };
}

function costOf({ bytes }: QueuedMessage): number {
  return bytes.length + OVERHEAD_BYTES;
}
