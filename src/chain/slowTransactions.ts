import type { TimeLimits } from "../execution/buildBlock.ts";
import type { Logger } from "../observability/logger.ts";
import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Hash } from "../primitives/hash.ts";
import type { SentTransaction } from "../types/transaction.ts";

/**
 * Limits the time of each transaction while a block is built, and schedules retries of those that were too slow. A
 * transaction that reaches its time limit is undone and set aside; later transactions of its sender wait behind it, those
 * of other senders go on. It is retried some blocks later with more time, and dropped after four tries. This is local to
 * one node and no rule of consensus.
 *
 *     new ── 1/8 of the window ──> set aside ── 1/4 of the window, one retry per block ──> dropped after four tries
 *                 \_ in time: mined                 \_ in time: mined
 *
 * The time lost on new transactions in one block is bounded too: each further one gets less time, and once a quarter of
 * the window is lost, transactions with a gas limit above HARMLESS_GAS wait for another block.
 *
 * A sender pays nothing for a stopped transaction and may replace it at once. A sender of a stopped transaction therefore
 * becomes a suspect: time lost on the new transactions of suspects does not count against other senders, and after the
 * first such transaction is stopped in a block, further ones above HARMLESS_GAS wait.
 */
export interface SlowTransactions {
  /** Limits for one block whose filling may take `windowMs`. */
  limitsFor(block: {
    readonly number: bigint;
    readonly windowMs: number;
    /** No other validator has to execute the block in the same period, so the rest of the window may be used. */
    readonly isLoneValidator: boolean;
  }): TimeLimits;
  /** Called with the transactions of each new block. */
  onMined(transactions: readonly { readonly hash: Hash }[]): void;
}

/** Time limits as shares of the filling window: of a new transaction, and of a retry. */
const FIRST_SHARE = 1 / 8;
const RETRY_SHARE = 1 / 4;
/** Time that stopped new transactions may take together, before those above HARMLESS_GAS wait. */
const WASTE_SHARE = 1 / 4;
/** Minimum time limit of a new transaction after others of the block were stopped. */
const MIN_SHARE = 1 / 64;
/** A lone validator retries in spare time if at least this share of the window is left and no other transaction is. */
const SPARE_SHARE = 1 / 2;
/** Share of the spare time given to the retry; the block has to be finished, too. */
const SPARE_USED = 0.9;
/** Blocks for which a lone validator waits for spare time before it retries as others do. */
const SPARE_WAIT_BLOCKS = 8n;
/** A transaction with this gas limit runs for some milliseconds at most, whatever it executes. */
const HARMLESS_GAS = 100_000n;
const MOST_TRIES = 4;
/**
 * A try in which this process got less than this share of the time as CPU time, because the machine was busy with other
 * processes, counts as a quarter of a try.
 */
const MIN_CPU_SHARE = 1 / 2;
const BUSY_TRY = 1 / 4;
/** After this many drops with none mined since, a sender's next slow transaction is dropped at its first try. */
const MAX_DROPS = 3;
/** How long a sender stays a suspect after a stop, unless the transaction is mined after all. */
const SUSPECT_MS = 600_000;
/** Maximum number of suspects, some 100 bytes each; the oldest is dropped first. */
const MAX_SUSPECTS = 16_384;
/** Maximum number of transactions set aside at a time; one more is dropped at its first try. */
export const MAX_SET_ASIDE = 256;
/** Maximum number of records, some 300 bytes each; the oldest is dropped first. */
const MAX_RECORDS = 1_024;
/** A transaction not seen in the pool for this long is taken as gone. */
const GONE_AFTER_MS = 60_000;
/** How long a dropped transaction that is sent again is refused without a try. */
const DROPPED_MS = 600_000;

/** A transaction that was stopped. */
interface SlowTransaction {
  readonly senderKey: string;
  tries: number;
  /** Sum of the tries, with those on a busy machine weighted as BUSY_TRY. */
  weightedTries: number;
  longestMs: number;
  /** Number of the first block in which it may be tried again. */
  notBefore: bigint;
  /** When it was last seen in the pool. */
  seenMs: number;
  /** Why it was dropped; undefined while it is set aside. */
  reason: string | undefined;
}

export interface SlowTransactionParts {
  nowMs(): number;
  /** CPU time used by this process, milliseconds. Absent where only the clock is available. */
  readonly cpuMs?: (() => number) | undefined;
  readonly logger: Logger;
}

export function createSlowTransactions({ nowMs, cpuMs, logger }: SlowTransactionParts): SlowTransactions {
  const records = new Map<string, SlowTransaction>();
  /** Number of dropped transactions by sender. */
  const drops = new Map<string, number>();
  /** When a transaction was last stopped after a whole try, by sender. */
  const suspects = new Map<string, number>();

  function isSuspect({ sender }: SentTransaction): boolean {
    if (suspects.size === 0) return false;
    const stoppedMs = suspects.get(toKey(sender));
    return stoppedMs !== undefined && nowMs() - stoppedMs < SUSPECT_MS;
  }

  function addSuspect(senderKey: string): void {
    suspects.delete(senderKey);
    suspects.set(senderKey, nowMs());
    dropOldest(suspects, MAX_SUSPECTS);
  }

  function find(transaction: SentTransaction): SlowTransaction | undefined {
    if (records.size === 0) return undefined;
    const key = toKey(transaction.hash);
    const known = records.get(key);
    if (known?.reason === undefined || nowMs() - known.seenMs < DROPPED_MS) return known;
    records.delete(key);
    return undefined;
  }

  /** Number of transactions set aside; removes those not seen for long. */
  function countSetAside(): number {
    let count = 0;
    for (const [key, { reason, seenMs }] of records) {
      if (reason !== undefined) continue;
      if (nowMs() - seenMs > GONE_AFTER_MS) records.delete(key);
      else count++;
    }
    return count;
  }

  function addRecord(transaction: SentTransaction): SlowTransaction {
    const senderKey = toKey(transaction.sender);
    const record = {
      senderKey,
      tries: 0,
      weightedTries: 0,
      longestMs: 0,
      notBefore: 0n,
      seenMs: nowMs(),
      reason: undefined,
    };
    records.set(toKey(transaction.hash), record);
    dropOldest(records, MAX_RECORDS);
    return record;
  }

  /** Why to drop a transaction that was just stopped; undefined to keep it set aside. */
  function dropReason(
    { senderKey, tries, weightedTries, longestMs }: SlowTransaction,
    isNew: boolean,
  ): string | undefined {
    const ran = `it was stopped after ${longestMs} ms, longer than a block can wait for one transaction`;
    if (weightedTries >= MOST_TRIES) return `${ran}, in the last of ${tries} tries`;
    if ((drops.get(senderKey) ?? 0) >= MAX_DROPS) return `${ran}, as were ${MAX_DROPS} of its sender before`;
    if (isNew && countSetAside() > MAX_SET_ASIDE)
      return `${ran}, and ${MAX_SET_ASIDE} such transactions are set aside already`;
    return undefined;
  }

  function stop(
    transaction: SentTransaction,
    { number, weight, ranMs }: { number: bigint; weight: number; ranMs: number },
  ): string | undefined {
    const { hash, sender, gasLimit } = transaction;
    const known = find(transaction);
    const stopped = known ?? addRecord(transaction);
    if (weight > 0) stopped.tries++;
    if (weight >= 1) addSuspect(stopped.senderKey);
    stopped.weightedTries += weight;
    stopped.longestMs = Math.max(stopped.longestMs, Math.round(ranMs));
    stopped.notBefore = number + 2n ** BigInt(Math.min(stopped.tries, MOST_TRIES));
    stopped.reason = dropReason(stopped, known === undefined);
    const facts = { hash, sender, gasLimit, ranMs: Math.round(ranMs), tries: stopped.tries };
    if (stopped.reason === undefined) {
      const message = "a transaction is too slow to build a block with: set aside, to be retried later";
      logger.warn({ ...facts, notBefore: stopped.notBefore }, message);
      return undefined;
    }
    drops.set(stopped.senderKey, (drops.get(stopped.senderKey) ?? 0) + 1);
    dropOldest(drops, MAX_RECORDS);
    logger.warn(
      { ...facts, reason: stopped.reason },
      "a transaction is too slow to build a block with: dropped",
    );
    return stopped.reason;
  }

  return {
    limitsFor({ number, windowMs, isLoneValidator }) {
      let lostMs = 0;
      let hasRetried = false;
      /** A suspect's new transaction was stopped in this block. */
      let hasStoppedSuspect = false;
      /** To be retried in spare time. */
      let spare: SentTransaction | undefined;
      let isSpare = false;
      let startCpuMs = 0;

      function limitOfNew(transaction: SentTransaction): number | "notNow" {
        const { gasLimit } = transaction;
        if (gasLimit > HARMLESS_GAS && isSuspect(transaction))
          return hasStoppedSuspect ? "notNow" : windowMs * FIRST_SHARE;
        if (lostMs >= windowMs * WASTE_SHARE && gasLimit > HARMLESS_GAS) return "notNow";
        return Math.max(windowMs * FIRST_SHARE - lostMs, windowMs * MIN_SHARE);
      }

      return {
        limitMs(transaction, leftMs) {
          // Too costly to read for each of ten thousand transfers.
          if (transaction.gasLimit > HARMLESS_GAS) startCpuMs = cpuMs?.() ?? 0;
          const stopped = find(transaction);
          if (stopped === undefined) return limitOfNew(transaction);
          if (stopped.reason !== undefined) return { dropped: stopped.reason };
          stopped.seenMs = nowMs();
          if (isSpare) return leftMs * SPARE_USED;
          const limitMs = windowMs * RETRY_SHARE;
          if (hasRetried || number < stopped.notBefore || leftMs < limitMs) return "notNow";
          if (isLoneValidator && number < stopped.notBefore + SPARE_WAIT_BLOCKS) {
            spare ??= transaction;
            return "notNow";
          }
          hasRetried = true;
          return limitMs;
        },
        stopped(transaction, { limitMs, tookMs }) {
          const isNew = find(transaction) === undefined;
          if (isNew && isSuspect(transaction)) hasStoppedSuspect = true;
          else if (isNew) lostMs += tookMs;
          const isWholeTry = !isNew || limitMs >= windowMs * FIRST_SHARE;
          const usedMs = cpuMs === undefined ? tookMs : cpuMs() - startCpuMs;
          const hadCpu = transaction.gasLimit <= HARMLESS_GAS || usedMs >= tookMs * MIN_CPU_SHARE;
          const weight = isWholeTry ? (hadCpu ? 1 : BUSY_TRY) : 0;
          return stop(transaction, { number, weight, ranMs: tookMs });
        },
        nextDeferred(leftMs) {
          if (spare === undefined || isSpare || hasRetried || leftMs < windowMs * SPARE_SHARE)
            return undefined;
          isSpare = true;
          hasRetried = true;
          return spare;
        },
      };
    },
    onMined(transactions) {
      if (records.size === 0) return;
      for (const { hash } of transactions) {
        const key = toKey(hash);
        const stopped = records.get(key);
        if (stopped === undefined) continue;
        records.delete(key);
        drops.delete(stopped.senderKey);
        suspects.delete(stopped.senderKey);
      }
    },
  };
}
