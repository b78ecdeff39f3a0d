import { type BudgetedConnection, slowestUntrusted } from "./budgetedConnection.ts";
import type { MessagePriority } from "./messagePriority.ts";

/**
 * Bytes queued for sending on all connections together; each message is counted once, however many connections queue
 * it. When there is no room, something else is dropped (bufferBudget.ts says in which order).
 */
export class SendBudget {
  readonly #maxBytes: number;
  readonly #connections: ReadonlySet<BudgetedConnection>;
  /** Number of connections that queue the same bytes. */
  readonly #holders = new Map<Uint8Array, number>();
  #queuedBytes = 0;

  constructor(maxBytes: number, connections: ReadonlySet<BudgetedConnection>) {
    this.#maxBytes = maxBytes;
    this.#connections = connections;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Reserves room; false when there is none, or the connection was closed to make some. */
  reserve(connection: BudgetedConnection, bytes: Uint8Array, priority: MessagePriority): boolean {
    while (!this.#holders.has(bytes) && this.#queuedBytes + bytes.length > this.#maxBytes) {
      if (!makeRoom(this.#connections, priority) || !this.#connections.has(connection)) return false;
    }
    const count = this.#holders.get(bytes) ?? 0;
    if (count === 0) this.#queuedBytes += bytes.length;
    this.#holders.set(bytes, count + 1);
    return true;
  }

  release(bytes: Uint8Array): void {
    const count = this.#holders.get(bytes) ?? 0;
    if (count > 1) this.#holders.set(bytes, count - 1);
    else if (this.#holders.delete(bytes)) this.#queuedBytes -= bytes.length;
  }
}

/** Drops something for a message of this priority; false when nothing more may be dropped. */
function makeRoom(connections: ReadonlySet<BudgetedConnection>, priority: MessagePriority): boolean {
  const untrusted = slowestUntrusted(connections, "sendingSinceMs");
  if (untrusted !== undefined) {
    untrusted.cut("it reads too slowly, and the send budget is exhausted");
    return true;
  }
  if (priority === "ordinary") return false;
  const bulky = fullest(connections, "ordinary");
  if (bulky !== undefined) {
    bulky.dropOrdinary();
    return true;
  }
  return fullest(connections, "consensus")?.dropOldestConsensus() ?? false;
}

function fullest(
  connections: ReadonlySet<BudgetedConnection>,
  priority: MessagePriority,
): BudgetedConnection | undefined {
  let found: BudgetedConnection | undefined;
  for (const connection of connections) {
    const bytes = connection.waitingBytes[priority];
    if (bytes > 0 && bytes > (found?.waitingBytes[priority] ?? 0)) found = connection;
  }
  return found;
}
