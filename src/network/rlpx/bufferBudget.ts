import { MAX_QUEUED_BYTES, MAX_UNTRUSTED_UNREAD_BYTES } from "../limits.ts";
import type { MessagePriority } from "./messagePriority.ts";

/**
 * Memory of all connections together: what waits to be sent, each message counted once however many connections share
 * it, and what came of messages that are not complete.
 *
 * When too much waits to be sent, these go first: the strangers (neither validators nor named by the operator) that have
 * kept a message waiting longest; then whatever is no consensus; then the oldest of the connection with most of it. When
 * too much of strangers' messages waits for the rest of them, whoever has taken longest over one is cut.
 */
export interface BufferBudget {
  join(connection: BudgetedConnection): BufferShare;
  readonly queuedBytes: number;
  /** Of messages that are not complete. */
  readonly unreadBytes: number;
}

export interface BudgetedConnection {
  readonly isUntrusted: boolean;
  /** Since when the other end has not read what it was sent, undefined when it has; on any one clock. */
  readonly sendingSinceMs: number | undefined;
  /** Since when a message of the other end is not complete. */
  readonly readingSinceMs: number | undefined;
  readonly waitingBytes: Readonly<Record<MessagePriority, number>>;
  dropOrdinary(): void;
  dropOldestConsensus(): boolean;
  /** It leaves, too. */
  cut(detail: string): void;
}

/** What one connection has of it. */
export interface BufferShare {
  /** False when there is no room. */
  reserve(bytes: Uint8Array, priority: MessagePriority): boolean;
  release(bytes: Uint8Array): void;
  /** So much memory is taken by a message that is not complete. */
  reportUnread(bytes: number): void;
  leave(): void;
}

export function createBufferBudget(
  limits = { queuedBytes: MAX_QUEUED_BYTES, untrustedUnreadBytes: MAX_UNTRUSTED_UNREAD_BYTES },
): BufferBudget {
  const connections = new Set<BudgetedConnection>();
  const unread = new Map<BudgetedConnection, number>();
  /** How many connections hold the bytes. */
  const holders = new Map<Uint8Array, number>();
  let queuedBytes = 0;
  let unreadBytes = 0;

  function setUnread(connection: BudgetedConnection, bytes: number): void {
    unreadBytes += bytes - (unread.get(connection) ?? 0);
    if (bytes === 0) unread.delete(connection);
    else unread.set(connection, bytes);
  }

  /** Who is a stranger is asked only when it matters. */
  function isTooMuchUnread(): boolean {
    if (unreadBytes <= limits.untrustedUnreadBytes) return false;
    let sum = 0;
    for (const [connection, bytes] of unread) if (connection.isUntrusted) sum += bytes;
    return sum > limits.untrustedUnreadBytes;
  }

  /** The stranger that has taken longest over something. */
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

  /** False when there is nothing more that may go for it. */
  function makeRoom(priority: MessagePriority): boolean {
    const stranger = slowest(({ sendingSinceMs }) => sendingSinceMs);
    if (stranger !== undefined) {
      stranger.cut("it reads too slowly, and memory is short");
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
          const stranger = slowest(({ readingSinceMs }) => readingSinceMs);
          if (stranger === undefined) return;
          stranger.cut("its message takes too long, and memory is short");
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
