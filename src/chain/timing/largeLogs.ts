import { leastGasOfLogs } from "../../execution/logCost.ts";
import type { TimeLimits } from "../../execution/timeLimits.ts";
import type { Logger } from "../../observability/logger.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { SentTransaction } from "../../types/transaction.ts";
import { TRANSACTION_GAS } from "../../types/transactionCount.ts";
import { TimedOutSenders } from "./timedOutSenders.ts";

/**
 * Limits how much the logs of our blocks cost after their execution, in bytes (execution/logCost.ts): bloom, receipts, their
 * root and the database, here and on every other node. Gas alone would let a block with a gas limit of 400 million have 44
 * MB of logs, and one of 2^53 any amount. A transaction is stopped before the log that would exceed its limit, so that
 * nothing is computed for that log.
 *
 *     more than TRANSACTION_LOG_BYTES     dropped: no block of this node can have it
 *     more than the block has room for    left out, and tried again when there is as much room as it is known to need
 *
 * A block has room for BLOCK_LOG_BYTES, and for as much as there is time to finish. The time does not count for a
 * transaction that has waited for some blocks, or busy senders could keep it out for ever: one block has at most one such
 * transaction, since filling ends when the time is used up. Logs of reverted calls do not count: nothing is computed for
 * them, their memory is counted while they hold it, and their time is bounded as for any execution (slowTransactions.ts).
 *
 * A sender pays nothing for a dropped transaction, so its next ones are limited further, like those of a sender of slow
 * transactions. All this is local to one node and no rule of consensus.
 */
export class LargeLogs {
  private readonly parts: LargeLogsParts;
  /** Left out transactions, keyed by hash, the oldest first. */
  private readonly leftOut = new Map<string, LeftOut>();
  /** Senders of transactions that were dropped. */
  private readonly droppedSenders: TimedOutSenders;

  constructor(parts: LargeLogsParts) {
    this.parts = parts;
    this.droppedSenders = new TimedOutSenders(() => parts.nowMs());
  }

  /** Adds limits for logs to those of one block whose filling may take `windowMs`. */
  limiting(limits: TimeLimits, block: { readonly number: bigint; readonly windowMs: number }): TimeLimits {
    let lostMs = 0;
    let hasStoppedKnownSender = false;
    return {
      limitMs: (...asked) => limits.limitMs(...asked),
      stopped: (...stopped) => limits.stopped(...stopped),
      nextDeferred: (leftMs) => limits.nextDeferred?.(leftMs),
      logLimitBytes: (transaction, room) => {
        if (transaction.gasLimit <= TRANSACTION_GAS) return 0;
        const leftBytes = Math.min(TRANSACTION_LOG_BYTES, BLOCK_LOG_BYTES - room.usedBytes);
        if (leftBytes < HARMLESS_BYTES) return "notNow";
        if (transaction.gasLimit <= HARMLESS_GAS) return leftBytes;
        const mayWaste = this.droppedSenders.has(transaction)
          ? !hasStoppedKnownSender
          : lostMs < block.windowMs * WASTE_SHARE;
        return mayWaste
          ? this.limitBytes(transaction, { leftBytes, timelyBytes: room.timelyBytes }, block.number)
          : "notNow";
      },
      loggedTooMuch: (transaction, facts) => {
        if (this.droppedSenders.has(transaction)) hasStoppedKnownSender = true;
        else lostMs += facts.tookMs;
        return this.leaveOut(transaction, facts, block.number);
      },
    };
  }

  /** Forgets the transactions of each new block. */
  onMined(transactions: readonly { readonly hash: Hash }[]): void {
    if (this.leftOut.size === 0) return;
    for (const { hash } of transactions) this.leftOut.delete(toKey(hash));
  }

  private limitBytes(
    { hash }: SentTransaction,
    { leftBytes, timelyBytes }: { readonly leftBytes: number; readonly timelyBytes: number },
    number: bigint,
  ): ReturnType<NonNullable<TimeLimits["logLimitBytes"]>> {
    const known = this.find(hash);
    if (known?.reason !== undefined) return { dropped: known.reason };
    if (known !== undefined && number < known.notBefore) return "notNow";
    const hasWaited = known !== undefined && number >= known.since + WAIT_BLOCKS;
    const limitBytes = hasWaited
      ? leftBytes
      : Math.min(leftBytes, Math.max(Math.floor(timelyBytes), HARMLESS_BYTES));
    return limitBytes < (known?.neededBytes ?? 0) ? "notNow" : limitBytes;
  }

  /** Returns the reason to drop the transaction, if any. */
  private leaveOut(
    transaction: SentTransaction,
    { limitBytes, neededBytes }: { readonly limitBytes: number; readonly neededBytes: number },
    number: bigint,
  ): string | undefined {
    const { hash, sender, gasLimit } = transaction;
    const key = toKey(hash);
    const { since = number, tries = 0 } = this.leftOut.get(key) ?? {};
    const reason = neededBytes > TRANSACTION_LOG_BYTES ? TOO_MANY_LOGS : undefined;
    const notBefore = number + 2n ** BigInt(Math.min(tries, MOST_DOUBLINGS));
    const untilMs = this.parts.nowMs() + REMEMBERED_MS;
    this.leftOut.delete(key);
    this.leftOut.set(key, { since, tries: tries + 1, notBefore, neededBytes, reason, untilMs });
    dropOldest(this.leftOut, LEFT_OUT_LIMIT);
    const fields = { number, hash, sender, gasLimit, neededBytes, limitBytes };
    if (reason !== undefined) {
      this.droppedSenders.add(transaction);
      this.parts.logger.warn(
        fields,
        "a transaction has more logs than a block of this node may have: dropped",
      );
    } else if (tries === 0) {
      const message = "a transaction has more logs than this block has room for: it will be retried later";
      this.parts.logger.debug(fields, message);
    }
    return reason;
  }

  private find(hash: Hash): LeftOut | undefined {
    if (this.leftOut.size === 0) return undefined;
    const key = toKey(hash);
    const known = this.leftOut.get(key);
    if (known === undefined || this.parts.nowMs() < known.untilMs) return known;
    this.leftOut.delete(key);
    return undefined;
  }
}

interface LargeLogsParts {
  nowMs(): number;
  readonly logger: Pick<Logger, "warn" | "debug">;
}

interface LeftOut {
  /** Number of the first block that it was left out of. */
  readonly since: bigint;
  readonly tries: number;
  /** Number of the first block that may try it again. */
  readonly notBefore: bigint;
  /** Least cost of its logs. */
  readonly neededBytes: number;
  /** Why it was dropped; undefined while it waits. */
  readonly reason: string | undefined;
  /** Time at which the record is forgotten. */
  readonly untilMs: number;
}

/**
 * Most that the logs of one transaction, and of one block of this node, may cost. The first also bounds how late a block may
 * be, since a transaction that has waited for some blocks is included whatever the time.
 */
export const TRANSACTION_LOG_BYTES = 8 * 1024 * 1024;
export const BLOCK_LOG_BYTES = 32 * 1024 * 1024;
/** Least that every executed transaction may log: it takes less than a millisecond. */
const HARMLESS_BYTES = 64 * 1024;
/** Highest gas limit with which logs cannot cost more than HARMLESS_BYTES. */
const HARMLESS_GAS = leastGasOfLogs(HARMLESS_BYTES);
/** Share of the filling time that transactions stopped before a log may take; after that, others wait. */
const WASTE_SHARE = 1 / 4;
/** Number of blocks after which a transaction no longer waits for a block with enough time. */
const WAIT_BLOCKS = 4n;
/** Each time a transaction is left out again, it waits for twice as many blocks, 16 at most. */
const MOST_DOUBLINGS = 4;
/** Most transactions that are remembered, some 300 bytes each, and for how long, milliseconds. */
const LEFT_OUT_LIMIT = 1_024;
const REMEMBERED_MS = 600_000;

const TOO_MANY_LOGS = "its logs cost more than 8 MiB, the limit of one transaction in this node's blocks";
