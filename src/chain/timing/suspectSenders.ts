import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { SentTransaction } from "../../types/transaction.ts";

/** Senders of whom a transaction was stopped lately, after a whole try. */
export interface SuspectSenders {
  isSuspect(transaction: SentTransaction): boolean;
  /** Called when a transaction was stopped. */
  add(transaction: SentTransaction): void;
  /** Called with the sender's key when a stopped transaction is mined after all. */
  clear(senderKey: string): void;
}

/** How long a sender stays a suspect after a stop, unless the transaction is mined after all. */
const SUSPECT_MS = 600_000;
/** Maximum number of suspects, some 100 bytes each; the oldest is dropped first. */
const MAX_SUSPECTS = 16_384;

export function createSuspectSenders(nowMs: () => number): SuspectSenders {
  /** When a transaction was last stopped, by sender. */
  const stoppedMs = new Map<string, number>();
  return {
    isSuspect({ sender }) {
      if (stoppedMs.size === 0) return false;
      const lastMs = stoppedMs.get(toKey(sender));
      return lastMs !== undefined && nowMs() - lastMs < SUSPECT_MS;
    },
    add({ sender }) {
      const senderKey = toKey(sender);
      stoppedMs.delete(senderKey);
      stoppedMs.set(senderKey, nowMs());
      dropOldest(stoppedMs, MAX_SUSPECTS);
    },
    clear(senderKey) {
      stoppedMs.delete(senderKey);
    },
  };
}
