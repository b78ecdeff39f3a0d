import type { MessagePriority } from "./messagePriority.ts";

/** What the buffer budget (bufferBudget.ts) sees of a connection, and can do to it. */
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

/** The untrusted connection whose transfer has taken longest; undefined when none has one. */
export function slowestUntrusted(
  connections: Iterable<BudgetedConnection>,
  transfer: "sendingSinceMs" | "readingSinceMs",
): BudgetedConnection | undefined {
  let found: { readonly connection: BudgetedConnection; readonly since: number } | undefined;
  for (const connection of connections) {
    const since = connection.isUntrusted ? connection[transfer] : undefined;
    if (since !== undefined && (found === undefined || since < found.since)) found = { connection, since };
  }
  return found?.connection;
}
