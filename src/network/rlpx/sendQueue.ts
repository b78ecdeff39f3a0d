import { MAX_QUEUED_CONSENSUS_BYTES, MAX_QUEUED_ORDINARY_BYTES, PIECE_BYTES } from "../limits.ts";
import type { BufferShare } from "./bufferBudget.ts";
import type { MessagePriority } from "./messagePriority.ts";

/** A message as it will go into its frame, compressed; several connections share the bytes of one message. */
export interface QueuedMessage {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/**
 * Messages of one connection that wait for those before them to be read by the other end.
 *
 *     base protocol  >  consensus up to 64 KiB  >  larger consensus  >  everything else
 *
 * What holds: within a row the order is kept; a Pong waits for one frame at most; votes do not wait for blocks; a large
 * message that waits, or is on its way, does not wait a second time. Each row is bounded in bytes: of consensus the
 * oldest give way, for what was said last counts; of the rest what comes last is refused.
 */
export interface SendQueue {
  /** For the base protocol: one message of an id at most waits. */
  pushBase(message: QueuedMessage): void;
  /** False when there is no room. */
  push(message: QueuedMessage, priority: MessagePriority): boolean;
  /** The next to go. It counts until the next call, or until `clear`. */
  shift(): QueuedMessage | undefined;
  /** Drops what waits and is no consensus. */
  dropOrdinary(): void;
  /** Drops the consensus message that has waited longest, a large one first; false when none waits. */
  dropOldestConsensus(): boolean;
  /** Drops what waits; what is on its way stays. */
  dropWaiting(): void;
  clear(): void;
  readonly isEmpty: boolean;
  /** Of what waits, by urgency. */
  readonly waitingBytes: Readonly<Record<MessagePriority, number>>;
}

/** What a message takes beside its bytes. */
const OVERHEAD_BYTES = 256;

/** Bounded by itself alone unless a share is given. */
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
  /** Ids of the large messages that wait or are on their way, by their bytes. */
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
