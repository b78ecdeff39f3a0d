import { type BudgetedConnection, slowestUntrusted } from "./budgetedConnection.ts";
import type { MessagePriority } from "./messagePriority.ts";

/**
 * Bytes queued for sending on all connections together; each message is counted once, however many connections queue
 * it. When there is no room, something else is dropped (bufferBudget.ts says in which order).
 */
export interface SendBudget {
  readonly queuedBytes: number;
  /** False when there is no room, or the connection was closed to make some. */
  reserve(connection: BudgetedConnection, bytes: Uint8Array, priority: MessagePriority): boolean;
  release(bytes: Uint8Array): void;
}

export function createSendBudget(maxBytes: number, connections: ReadonlySet<BudgetedConnection>): SendBudget {
  /** Number of connections that queue the same bytes. */
  const holders = new Map<Uint8Array, number>();
  let queuedBytes = 0;

  return {
    get queuedBytes() {
      return queuedBytes;
    },
    reserve(connection, bytes, priority) {
      while (!holders.has(bytes) && queuedBytes + bytes.length > maxBytes) {
        if (!makeRoom(connections, priority) || !connections.has(connection)) return false;
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
  };
}

/** False when nothing more may be dropped for a message of this priority. */
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
