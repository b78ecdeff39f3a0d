import { MAX_QUEUED_BYTES, MAX_UNTRUSTED_UNREAD_BYTES } from "../limits.ts";
import type { MessagePriority } from "./messagePriority.ts";

/** A connection as the budget sees it. */
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

/** One connection's part of the budget. */
export interface BufferShare {
  /** Reserves room for a message; false when there is none. */
  reserve(bytes: Uint8Array, priority: MessagePriority): boolean;
  release(bytes: Uint8Array): void;
  /** Reports the memory that an incomplete message takes. */
  reportUnread(bytes: number): void;
  leave(): void;
}

/**
 * Memory budget of all connections together: messages queued for sending, each counted once however many connections
 * share it, and incomplete received messages.
 *
 * When the send queues are over budget, these are dropped in order: untrusted peers (neither validators nor named by
 * the operator), the one that has been blocking longest first; then messages other than consensus; then the oldest
 * consensus message of the connection with most of them. When untrusted peers' incomplete messages are over budget, the
 * peer that has taken longest over one is disconnected.
 */
export class BufferBudget {
  private readonly connections = new Set<BudgetedConnection>();
  private readonly sends: SendBudget;
  private readonly receives: ReceiveBudget;

  constructor(limits = { queuedBytes: MAX_QUEUED_BYTES, untrustedUnreadBytes: MAX_UNTRUSTED_UNREAD_BYTES }) {
    this.sends = new SendBudget(limits.queuedBytes, this.connections);
    this.receives = new ReceiveBudget(limits.untrustedUnreadBytes, this.connections);
  }

  join(connection: BudgetedConnection): BufferShare {
    this.connections.add(connection);
    return {
      reserve: (bytes, priority) => this.sends.reserve(connection, bytes, priority),
      release: (bytes) => this.sends.release(bytes),
      reportUnread: (bytes) => this.receives.report(connection, bytes),
      leave: () => {
        this.connections.delete(connection);
        this.receives.report(connection, 0);
      },
    };
  }

  get queuedBytes(): number {
    return this.sends.queuedBytes;
  }

  /** Bytes of incomplete messages. */
  get unreadBytes(): number {
    return this.receives.unreadBytes;
  }
}

/**
 * Bytes queued for sending on all connections together; each message is counted once, however many connections queue
 * it. When there is no room, something else is dropped (BufferBudget says in which order).
 */
class SendBudget {
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

/**
 * Memory taken by incomplete received messages. When those of untrusted peers take too much, the peer that has taken
 * longest over its message is disconnected.
 */
class ReceiveBudget {
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

/** The untrusted connection whose transfer has taken longest; undefined when none has one. */
function slowestUntrusted(
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
