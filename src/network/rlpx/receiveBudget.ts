import { type BudgetedConnection, slowestUntrusted } from "./budgetedConnection.ts";

/**
 * Memory taken by incomplete received messages. When those of untrusted peers take too much, the peer that has taken
 * longest over its message is disconnected.
 */
export interface ReceiveBudget {
  readonly unreadBytes: number;
  /** Reports the memory that the connection's incomplete message takes. */
  report(connection: BudgetedConnection, bytes: number): void;
}

export function createReceiveBudget(
  maxUntrustedBytes: number,
  connections: ReadonlySet<BudgetedConnection>,
): ReceiveBudget {
  const unread = new Map<BudgetedConnection, number>();
  let unreadBytes = 0;

  /** Trust is looked up only when it matters. */
  function isTooMuch(): boolean {
    if (unreadBytes <= maxUntrustedBytes) return false;
    let sum = 0;
    for (const [connection, bytes] of unread) if (connection.isUntrusted) sum += bytes;
    return sum > maxUntrustedBytes;
  }

  return {
    get unreadBytes() {
      return unreadBytes;
    },
    report(connection, bytes) {
      unreadBytes += bytes - (unread.get(connection) ?? 0);
      if (bytes === 0) unread.delete(connection);
      else unread.set(connection, bytes);
      while (bytes > 0 && isTooMuch()) {
        const untrusted = slowestUntrusted(connections, "readingSinceMs");
        if (untrusted === undefined) return;
        untrusted.cut("its message takes too long, and the receive budget is exhausted");
      }
    },
  };
}
