import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { SentTransaction } from "../../types/transaction.ts";

/** Time for which a sender is remembered after a stop, unless the transaction is mined after all. */
const REMEMBERED_MS = 600_000;
/** Maximum number of senders, some 100 bytes each; the oldest is dropped first. */
const MAX_SENDERS = 16_384;

/** Senders whose transactions were recently stopped, each after a whole try. */
export class TimedOutSenders {
  private readonly nowMs: () => number;
  /** When a transaction was last stopped, by sender. */
  private readonly stoppedMs = new Map<string, number>();

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  /** Whether a transaction of this one's sender was stopped recently. */
  has({ sender }: SentTransaction): boolean {
    if (this.stoppedMs.size === 0) return false;
    const lastMs = this.stoppedMs.get(toKey(sender));
    return lastMs !== undefined && this.nowMs() - lastMs < REMEMBERED_MS;
  }

  /** Called when a transaction was stopped. */
  add({ sender }: SentTransaction): void {
    const senderKey = toKey(sender);
    this.stoppedMs.delete(senderKey);
    this.stoppedMs.set(senderKey, this.nowMs());
    dropOldest(this.stoppedMs, MAX_SENDERS);
  }

  /** Called with the sender's key when a stopped transaction is mined after all. */
  clear(senderKey: string): void {
    this.stoppedMs.delete(senderKey);
  }
}
