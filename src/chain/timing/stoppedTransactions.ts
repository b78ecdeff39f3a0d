import type { Logger } from "../../observability/logger.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { SentTransaction } from "../../types/transaction.ts";

interface StoppedTransaction {
  readonly senderKey: string;
  readonly tries: number;
  /** Number of the first block in which it may be tried again. */
  readonly notBefore: bigint;
  /** When it was last seen in the pool. */
  seenMs: number;
  /** Why it was dropped; undefined while it is set aside. */
  readonly reason: string | undefined;
}

interface StopRecord extends StoppedTransaction {
  tries: number;
  /** Sum of the tries, each with its weight. */
  weightedTries: number;
  longestMs: number;
  notBefore: bigint;
  reason: string | undefined;
}

const MOST_TRIES = 4;
/** Number of drops, with none mined since, after which a sender's next slow transaction is dropped at its first try. */
const MAX_DROPS = 3;
/** Maximum number of transactions set aside at a time; a further one is dropped at its first try. */
export const MAX_SET_ASIDE = 256;
/** Maximum number of records, some 300 bytes each; the oldest is dropped first. */
const MAX_RECORDS = 1_024;
/** Time after which a transaction not seen in the pool counts as gone. */
const GONE_AFTER_MS = 60_000;
/** Time for which a dropped transaction is refused without a try when it is sent again. */
const DROPPED_MS = 600_000;

interface StoppedTransactionsParts {
  nowMs(): number;
  readonly logger: Logger;
}

/** Records of transactions that were stopped while a block was built, with their tries; decides when one is dropped. */
export class StoppedTransactions {
  private readonly records = new Map<string, StopRecord>();
  /** Number of dropped transactions by sender. */
  private readonly drops = new Map<string, number>();
  private readonly parts: StoppedTransactionsParts;

  constructor(parts: StoppedTransactionsParts) {
    this.parts = parts;
  }

  get isEmpty(): boolean {
    return this.records.size === 0;
  }

  find(transaction: SentTransaction): StopRecord | undefined {
    if (this.records.size === 0) return undefined;
    const key = toKey(transaction.hash);
    const known = this.records.get(key);
    if (known?.reason === undefined || this.parts.nowMs() - known.seenMs < DROPPED_MS) return known;
    this.records.delete(key);
    return undefined;
  }

  /** Records a try in a block. Returns why to drop the transaction; undefined to keep it set aside. */
  stop(
    transaction: SentTransaction,
    { number, weight, ranMs }: { readonly number: bigint; readonly weight: number; readonly ranMs: number },
  ): string | undefined {
    const { hash, sender, gasLimit } = transaction;
    const { logger } = this.parts;
    const known = this.find(transaction);
    const stopped = known ?? this.add(transaction);
    if (weight > 0) stopped.tries++;
    stopped.weightedTries += weight;
    stopped.longestMs = Math.max(stopped.longestMs, Math.round(ranMs));
    stopped.notBefore = number + 2n ** BigInt(Math.min(stopped.tries, MOST_TRIES));
    stopped.reason = this.dropReason(stopped, known === undefined);
    const fields = { hash, sender, gasLimit, ranMs: Math.round(ranMs), tries: stopped.tries };
    if (stopped.reason === undefined) {
      const message = "a transaction is too slow to build a block with: set aside, to be retried later";
      logger.warn({ ...fields, notBefore: stopped.notBefore }, message);
      return undefined;
    }
    this.drops.set(stopped.senderKey, (this.drops.get(stopped.senderKey) ?? 0) + 1);
    dropOldest(this.drops, MAX_RECORDS);
    logger.warn(
      { ...fields, reason: stopped.reason },
      "a transaction is too slow to build a block with: dropped",
    );
    return stopped.reason;
  }

  /** Removes the record of a mined transaction, and returns the key of its sender if there was one. */
  removeMined(hash: Hash): string | undefined {
    const key = toKey(hash);
    const stopped = this.records.get(key);
    if (stopped === undefined) return undefined;
    this.records.delete(key);
    this.drops.delete(stopped.senderKey);
    return stopped.senderKey;
  }

  private add(transaction: SentTransaction): StopRecord {
    const record = {
      senderKey: toKey(transaction.sender),
      tries: 0,
      weightedTries: 0,
      longestMs: 0,
      notBefore: 0n,
      seenMs: this.parts.nowMs(),
      reason: undefined,
    };
    this.records.set(toKey(transaction.hash), record);
    dropOldest(this.records, MAX_RECORDS);
    return record;
  }

  /** Why to drop a transaction that was just stopped; undefined to keep it set aside. */
  private dropReason(
    { senderKey, tries, weightedTries, longestMs }: StopRecord,
    isNew: boolean,
  ): string | undefined {
    const ran = `it was stopped after ${longestMs} ms, longer than a block can wait for one transaction`;
    if (weightedTries >= MOST_TRIES) return `${ran}, in the last of ${tries} tries`;
    if ((this.drops.get(senderKey) ?? 0) >= MAX_DROPS)
      return `${ran}, as were ${MAX_DROPS} of its sender before`;
    if (isNew && this.countSetAside() > MAX_SET_ASIDE)
      return `${ran}, and ${MAX_SET_ASIDE} such transactions are set aside already`;
    return undefined;
  }

  /** Number of transactions set aside; removes those not seen for long. */
  private countSetAside(): number {
    const nowMs = this.parts.nowMs();
    let count = 0;
    for (const [key, { reason, seenMs }] of this.records) {
      if (reason !== undefined) continue;
      if (nowMs - seenMs > GONE_AFTER_MS) this.records.delete(key);
      else count++;
    }
    return count;
  }
}
