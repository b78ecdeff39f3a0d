import { type BudgetedConnection, slowestUntrusted } from "./budgetedConnection.ts";

/**
 * Memory taken by incomplete received messages. When those of untrusted peers take too much, the peer that has taken
 * longest over its message is disconnected.
 */
export class ReceiveBudget {
  readonly #maxUntrustedBytes: number;
  readonly #connections: ReadonlySet<BudgetedConnection>;
  readonly #unread = new Map<BudgetedConnection, number>();
  #unreadBytes = 0;

  constructor(maxUntrustedBytes: number, connections: ReadonlySet<BudgetedConnection>) {
    this.#maxUntrustedBytes = maxUntrustedBytes;
    this.#connections = connections;
  }

  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  /** Reports the memory that the connection's incomplete message takes. */
  report(connection: BudgetedConnection, bytes: number): void {
    this.#unreadBytes += bytes - (this.#unread.get(connection) ?? 0);
    if (bytes === 0) this.#unread.delete(connection);
    else this.#unread.set(connection, bytes);
    while (bytes > 0 && this.#isTooMuch()) {
      const untrusted = slowestUntrusted(this.#connections, "readingSinceMs");
      if (untrusted === undefined) return;
      untrusted.cut("its message takes too long, and the receive budget is exhausted");
    }
  }

  /** Trust is looked up only when it matters. */
  #isTooMuch(): boolean {
    if (this.#unreadBytes <= this.#maxUntrustedBytes) return false;
    let sum = 0;
    for (const [connection, bytes] of this.#unread) if (connection.isUntrusted) sum += bytes;
    return sum > this.#maxUntrustedBytes;
  }
}
