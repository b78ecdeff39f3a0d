import { MAX_QUEUED_BYTES, MAX_UNTRUSTED_UNREAD_BYTES } from "../limits.ts";
import type { BudgetedConnection } from "./budgetedConnection.ts";
import type { MessagePriority } from "./messagePriority.ts";
import { ReceiveBudget } from "./receiveBudget.ts";
import { SendBudget } from "./sendBudget.ts";

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
