import type { MessagePriority } from "./messagePriority.ts";

/** A connection as the buffer budget (bufferBudget.ts) sees it. */
export interface BudgetedConnection {
  readonly isUntrusted: boolean;
  /** Since when queued data has waited for the peer to read, on any one clock; undefined when none does. */
  readonly sendingSinceMs: number | undefined;
  /** Since when a message from the peer has been incomplete. */
  readonly readingSinceMs: number | undefined;
  readonly waitingBytes: Readonly<Record<MessagePriority, number>>;
  dropOrdinary(): void;
  dropOldestConsensus(): boolean;
  /** Closes the connection and removes it from the budget. */
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
