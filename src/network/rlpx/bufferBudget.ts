import { MAX_QUEUED_BYTES, MAX_UNTRUSTED_UNREAD_BYTES } from "../limits.ts";
import type { MessagePriority } from "./messagePriority.ts";

/**
 * Memory budget of all connections together: messages queued for sending, each counted once however many connections
 * share it, and incomplete received messages.
 *
 * When the send queues are over budget, these are dropped in order: untrusted peers (neither validators nor named by
 * the operator), the one that has been blocking longest first; then messages other than consensus; then the oldest
 * consensus message of the connection with most of them. When untrusted peers' incomplete messages are over budget, the
 * peer that has taken longest over one is disconnected.
 */
export interface BufferBudget {
  join(connection: BudgetedConnection): BufferShare;
  readonly queuedBytes: number;
  /** Bytes of incomplete messages. */
  readonly unreadBytes: number;
}

export interface BudgetedConnection {
  readonly isUntrusted: boolean;
  /** Since when queued data waits for the peer to read, undefined when none does; on any one clock. */
  readonly sendingSinceMs: number | undefined;
  /** Since when a message from the peer is incomplete. */
  readonly readingSinceMs: number | undefined;
  readonly waitingBytes: Readonly<Record<MessagePriority, number>>;
  dropOrdinary(): void;
  dropOldestConsensus(): boolean;
  /** Closes the connection, which leaves the budget, too. */
  cut(detail: string): void;
}

/** One connection's part of the budget. */
export interface BufferShare {
  /** False when there is no room. */
  reserve(bytes: Uint8Array, priority: MessagePriority): boolean;
  release(bytes: Uint8Array): void;
  /** Reports the memory that an incomplete message takes. */
  reportUnread(bytes: number): void;
  leave(): void;
}

export function createBufferBudget(
  limits = { queuedBytes: MAX_QUEUED_BYTES, untrustedUnreadBytes: MAX_UNTRUSTED_UNREAD_BYTES },
): BufferBudget {
  const connections = new Set<BudgetedConnection>();
  const unread = new Map<BudgetedConnection, number>();
  /** Number of connections that queue the same bytes. */
  const holders = new Map<Uint8Array, number>();
  let queuedBytes = 0;
  let unreadBytes = 0;

  function setUnread(connection: BudgetedConnection, bytes: number): void {
    unreadBytes += bytes - (unread.get(connection) ?? 0);
    if (bytes === 0) unread.delete(connection);
    else unread.set(connection, bytes);
  }

  /** Trust is looked up only when it matters. */
  function isTooMuchUnread(): boolean {
    if (unreadBytes <= limits.untrustedUnreadBytes) return false;
    let sum = 0;
    for (const [connection, bytes] of unread) if (connection.isUntrusted) sum += bytes;
    return sum > limits.untrustedUnreadBytes;
  }

  /** The untrusted peer that has taken longest. */
  function slowest(
    sinceMs: (connection: BudgetedConnection) => number | undefined,
  ): BudgetedConnection | undefined {
    let found: { readonly connection: BudgetedConnection; readonly since: number } | undefined;
    for (const connection of connections) {
      const since = connection.isUntrusted ? sinceMs(connection) : undefined;
      if (since !== undefined && (found === undefined || since < found.since)) found = { connection, since };
    }
    return found?.connection;
  }

  function fullest(priority: MessagePriority): BudgetedConnection | undefined {
    let found: BudgetedConnection | undefined;
    for (const connection of connections) {
      const bytes = connection.waitingBytes[priority];
      if (bytes > 0 && bytes > (found?.waitingBytes[priority] ?? 0)) found = connection;
    }
    return found;
  }

  /** False when nothing more may be dropped for a message of this priority. */
  function makeRoom(priority: MessagePriority): boolean {
    const untrusted = slowest(({ sendingSinceMs }) => sendingSinceMs);
    if (untrusted !== undefined) {
      untrusted.cut("it reads too slowly, and the send budget is exhausted");
      return true;
    }
    if (priority === "ordinary") return false;
    const bulky = fullest("ordinary");
    if (bulky !== undefined) {
      bulky.dropOrdinary();
      return true;
    }
    return fullest("consensus")?.dropOldestConsensus() ?? false;
  }

  function join(connection: BudgetedConnection): BufferShare {
    connections.add(connection);
    return {
      reserve(bytes, priority) {
        while (!holders.has(bytes) && queuedBytes + bytes.length > limits.queuedBytes) {
          if (!makeRoom(priority) || !connections.has(connection)) return false;
        }
        const count = holders.get(bytes) ?? 0;
        if (count === 0) queuedBytes += bytes.length;
        holders.set(bytes, count + 1);
        return true;
      },
      release(bytes) {
        const count = holders.get(bytes) ?? 0;
        if (count > 1) holders.set(bytes, count - 1);
        else if (holders.delete(bytes)) queuedBytes -= bytes.length;
      },
      reportUnread(bytes) {
        setUnread(connection, bytes);
        while (bytes > 0 && isTooMuchUnread()) {
          const untrusted = slowest(({ readingSinceMs }) => readingSinceMs);
          if (untrusted === undefined) return;
          untrusted.cut("its message takes too long, and the receive budget is exhausted");
        }
      },
      leave() {
        connections.delete(connection);
        setUnread(connection, 0);
      },
    };
  }

  return {
    join,
    get queuedBytes() {
      return queuedBytes;
    },
    get unreadBytes() {
      return unreadBytes;
    },
  };
}
