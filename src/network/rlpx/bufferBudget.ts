import { MAX_QUEUED_BYTES, MAX_UNTRUSTED_UNREAD_BYTES } from "../limits.ts";
import type { BudgetedConnection } from "./budgetedConnection.ts";
import type { MessagePriority } from "./messagePriority.ts";
import { createReceiveBudget } from "./receiveBudget.ts";
import { createSendBudget } from "./sendBudget.ts";

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
  const sends = createSendBudget(limits.queuedBytes, connections);
  const receives = createReceiveBudget(limits.untrustedUnreadBytes, connections);
  return {
    join(connection) {
      connections.add(connection);
      return {
        reserve: (bytes, priority) => sends.reserve(connection, bytes, priority),
        release: (bytes) => sends.release(bytes),
        reportUnread: (bytes) => receives.report(connection, bytes),
        leave() {
          connections.delete(connection);
          receives.report(connection, 0);
        },
      };
    },
    get queuedBytes() {
      return sends.queuedBytes;
    },
    get unreadBytes() {
      return receives.unreadBytes;
    },
  };
}
