import type { TransactionType } from "../types/transaction.ts";
import type { SubPool } from "./events.ts";
import type { SenderQueue } from "./senderQueue.ts";

/** Counts of transactions, and the memory of their contents in bytes (occupancy.ts). */
export interface PoolStatistics {
  readonly pending: number;
  readonly queued: number;
  readonly local: number;
  readonly remote: number;
  readonly bytes: number;
}

/** Contents of one sub-pool, for gauges. */
export interface SubPoolBreakdown {
  readonly transactions: number;
  /** Memory of their contents (occupancy.ts). */
  readonly bytes: number;
  readonly senders: number;
  readonly byType: ReadonlyMap<TransactionType, number>;
}

export type PoolBreakdown = Readonly<Record<SubPool, SubPoolBreakdown>>;

/**
 * Counts by walking over the whole pool: some milliseconds for a full one, so for metrics readings and not for each
 * block.
 */
export function breakDown(queues: Iterable<SenderQueue>): PoolBreakdown {
  const pending = emptyBreakdown();
  const queued = emptyBreakdown();
  for (const queue of queues) {
    if (queue.pendingCount > 0) pending.senders++;
    if (queue.queuedCount > 0) queued.senders++;
    for (const { transaction, occupiedBytes } of queue.entries()) {
      const { nonce, type } = transaction;
      const subPool = nonce < queue.nextNonce ? pending : queued;
      subPool.transactions++;
      subPool.bytes += occupiedBytes;
      subPool.byType.set(type, (subPool.byType.get(type) ?? 0) + 1);
    }
  }
  return { pending, queued };
}

function emptyBreakdown(): {
  transactions: number;
  bytes: number;
  senders: number;
  byType: Map<TransactionType, number>;
} {
  return { transactions: 0, bytes: 0, senders: 0, byType: new Map() };
}
