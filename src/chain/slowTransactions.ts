import type { TimeLimits } from "../execution/buildBlock.ts";
import type { Logger } from "../observability/logger.ts";
import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Hash } from "../primitives/hash.ts";
import type { SentTransaction } from "../types/transaction.ts";

/**
 * Which transactions were too slow to build a block with, and when they are tried again. A transaction that runs into its
 * limit is undone and set aside: the rest of its sender's wait behind it, others go on. It is tried again some blocks
 * later, with more time, and dropped in the end. Everything here is about one process: validators agree on nothing of it.
 *
 *     new ── an eighth of the window ──> set aside ── a quarter, one of them in a block ──> dropped after four tries
 *                    \_ in time: mined                    \_ in time: mined
 *
 * What is wasted on new ones in a block is bounded as well: each further one gets less time, and once a quarter of the
 * window is gone those that could run for long wait for another block. A sender pays nothing for what was stopped, and may
 * put another in its place at once: so new ones of a sender of whom one was stopped take no time from those of others.
 * One of them in a block may be stopped, then the rest that could run for long wait.
 */
export interface SlowTransactions {
  /** The limits for one block, the filling of which may take `windowMs`. */
  limitsFor(block: {
    readonly number: bigint;
    readonly windowMs: number;
    /** No other validator has to execute the block in the same period: time that nobody else needs may be used. */
    readonly isLoneValidator: boolean;
  }): TimeLimits;
  /** To be told of what is in a new block. */
  mined(transactions: readonly { readonly hash: Hash }[]): void;
}

/** Shares of the window in which a block is filled: of a new transaction, of one that was set aside. */
const FIRST_SHARE = 1 / 8;
const RETRY_SHARE = 1 / 4;
/** What new ones may waste together before those that could run for long have to wait. */
const WASTE_SHARE = 1 / 4;
/** What is left for each further one when the first of a block had to be stopped. */
const LEAST_SHARE = 1 / 64;
/** A lone validator uses time that nobody else needs: where so much of the window is left and there is nothing else. */
const SPARE_SHARE = 1 / 2;
/** Of that time; the block has to be finished, too. */
const SPARE_USED = 0.9;
/** Blocks for which a lone validator waits for such time, before it goes on as others do. */
const SPARE_PATIENCE_BLOCKS = 8n;
/** Runs for some milliseconds at most, in whatever way it spends its gas. */
const HARMLESS_GAS = 100_000n;
const MOST_TRIES = 4;
/**
 * A try in which this process had less than half of the time for itself, because the machine was busy with others, counts
 * for a quarter of one.
 */
const FAIR_SHARE = 1 / 2;
const UNFAIR_TRY = 1 / 4;
/** Of a sender's that were dropped, none mined since: the next one is dropped at its first try. */
const DROPS_FORGIVEN = 3;
/** How long a sender is one of whom a transaction was stopped, unless it is mined after all. */
const SUSPECTED_FOR_MS = 600_000;
/** Remembered of these senders, the oldest forgotten first: some 100 bytes each. */
const MOST_SUSPECTS = 16_384;
/** Set aside at a time; one more is dropped at its first try. */
export const MOST_SET_ASIDE = 256;
/** Remembered in all, the oldest forgotten first: some 300 bytes each. */
const MOST_REMEMBERED = 1_024;
/** Not seen in the pool for so long: it is not there any more. */
const GONE_AFTER_MS = 60_000;
/** Until a transaction that was dropped and sent again is tried once more. */
const DROPPED_FOR_MS = 600_000;

/** A transaction that was stopped. */
interface Stopped {
  readonly senderKey: string;
  tries: number;
  /** As tries, those in which the machine was busy counted in part. */
  counted: number;
  longestMs: number;
  /** Number of the first block in which it may be tried again. */
  notBefore: bigint;
  /** When it was last met in the pool. */
  seenMs: number;
  /** Why it was dropped, once it is. */
  reason: string | undefined;
}

export interface SlowTransactionParts {
  nowMs(): number;
  /** What this process has used of the processors, milliseconds; absent where only the time is known. */
  readonly cpuMs?: (() => number) | undefined;
  readonly logger: Logger;
}

export function createSlowTransactions({ nowMs, cpuMs, logger }: SlowTransactionParts): SlowTransactions {
  const remembered = new Map<string, Stopped>();
  /** By sender, how many were dropped. */
  const drops = new Map<string, number>();
  /** By sender, when one was last stopped that had had all the time of a try. */
  const suspects = new Map<string, number>();

  function isSuspect({ sender }: SentTransaction): boolean {
    if (suspects.size === 0) return false;
    const stoppedMs = suspects.get(toKey(sender));
    return stoppedMs !== undefined && nowMs() - stoppedMs < SUSPECTED_FOR_MS;
  }

  function suspect(senderKey: string): void {
    suspects.delete(senderKey);
    suspects.set(senderKey, nowMs());
    dropOldest(suspects, MOST_SUSPECTS);
  }

  function find(transaction: SentTransaction): Stopped | undefined {
    if (remembered.size === 0) return undefined;
    const key = toKey(transaction.hash);
    const known = remembered.get(key);
    if (known?.reason === undefined || nowMs() - known.seenMs < DROPPED_FOR_MS) return known;
    remembered.delete(key);
    return undefined;
  }

  /** How many are set aside, those forgotten that nobody has met for long. */
  function countSetAside(): number {
    let count = 0;
    for (const [key, { reason, seenMs }] of remembered) {
      if (reason !== undefined) continue;
      if (nowMs() - seenMs > GONE_AFTER_MS) remembered.delete(key);
      else count++;
    }
    return count;
  }

  function open(transaction: SentTransaction): Stopped {
    const senderKey = toKey(transaction.sender);
    const fresh = {
      senderKey,
      tries: 0,
      counted: 0,
      longestMs: 0,
      notBefore: 0n,
      seenMs: nowMs(),
      reason: undefined,
    };
    remembered.set(toKey(transaction.hash), fresh);
    dropOldest(remembered, MOST_REMEMBERED);
    return fresh;
  }

  /** Why it should be dropped, having been stopped once more. */
  function whyDrop({ senderKey, tries, counted, longestMs }: Stopped, isNew: boolean): string | undefined {
    const ran = `it was stopped after ${longestMs} ms, which is longer than a block can wait for one transaction`;
    if (counted >= MOST_TRIES) return `${ran}, in the last of ${tries} tries`;
    if ((drops.get(senderKey) ?? 0) >= DROPS_FORGIVEN)
      return `${ran}, as ${DROPS_FORGIVEN} of its sender before`;
    if (isNew && countSetAside() > MOST_SET_ASIDE)
      return `${ran}, and ${MOST_SET_ASIDE} such transactions wait already`;
    return undefined;
  }

  function stop(
    transaction: SentTransaction,
    { number, counts, ranMs }: { number: bigint; counts: number; ranMs: number },
  ): string | undefined {
    const { hash, sender, gasLimit } = transaction;
    const known = find(transaction);
    const stopped = known ?? open(transaction);
    if (counts > 0) stopped.tries++;
    if (counts >= 1) suspect(stopped.senderKey);
    stopped.counted += counts;
    stopped.longestMs = Math.max(stopped.longestMs, Math.round(ranMs));
    stopped.notBefore = number + 2n ** BigInt(Math.min(stopped.tries, MOST_TRIES));
    stopped.reason = whyDrop(stopped, known === undefined);
    const facts = { hash, sender, gasLimit, ranMs: Math.round(ranMs), tries: stopped.tries };
    if (stopped.reason === undefined) {
      const message =
        "a transaction is too slow to build a block with: it is set aside and tried again later";
      logger.warn({ ...facts, notBefore: stopped.notBefore }, message);
      return undefined;
    }
    drops.set(stopped.senderKey, (drops.get(stopped.senderKey) ?? 0) + 1);
    dropOldest(drops, MOST_REMEMBERED);
    logger.warn(
      { ...facts, reason: stopped.reason },
      "a transaction is too slow to build a block with: dropped",
    );
    return stopped.reason;
  }

  return {
    limitsFor({ number, windowMs, isLoneValidator }) {
      let wastedMs = 0;
      let hasRetried = false;
      /** A new one of a suspect was stopped in this block. */
      let hasStoppedSuspect = false;
      /** To be tried in time that nobody else needs. */
      let spare: SentTransaction | undefined;
      let isSpare = false;
      let begunCpuMs = 0;

      function limitOfNew(transaction: SentTransaction): number | "notNow" {
        const { gasLimit } = transaction;
        if (gasLimit > HARMLESS_GAS && isSuspect(transaction))
          return hasStoppedSuspect ? "notNow" : windowMs * FIRST_SHARE;
        if (wastedMs >= windowMs * WASTE_SHARE && gasLimit > HARMLESS_GAS) return "notNow";
        return Math.max(windowMs * FIRST_SHARE - wastedMs, windowMs * LEAST_SHARE);
      }

      return {
        limitMs(transaction, leftMs) {
          // Not for each of ten thousand transfers.
          if (transaction.gasLimit > HARMLESS_GAS) begunCpuMs = cpuMs?.() ?? 0;
          const stopped = find(transaction);
          if (stopped === undefined) return limitOfNew(transaction);
          if (stopped.reason !== undefined) return { dropped: stopped.reason };
          stopped.seenMs = nowMs();
          if (isSpare) return leftMs * SPARE_USED;
          const limitMs = windowMs * RETRY_SHARE;
          if (hasRetried || number < stopped.notBefore || leftMs < limitMs) return "notNow";
          if (isLoneValidator && number < stopped.notBefore + SPARE_PATIENCE_BLOCKS) {
            spare ??= transaction;
            return "notNow";
          }
          hasRetried = true;
          return limitMs;
        },
        stopped(transaction, { limitMs, tookMs }) {
          const isNew = find(transaction) === undefined;
          if (isNew && isSuspect(transaction)) hasStoppedSuspect = true;
          else if (isNew) wastedMs += tookMs;
          const isWholeTry = !isNew || limitMs >= windowMs * FIRST_SHARE;
          const usedMs = cpuMs === undefined ? tookMs : cpuMs() - begunCpuMs;
          const isFair = transaction.gasLimit <= HARMLESS_GAS || usedMs >= tookMs * FAIR_SHARE;
          const counts = isWholeTry ? (isFair ? 1 : UNFAIR_TRY) : 0;
          return stop(transaction, { number, counts, ranMs: tookMs });
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
    mined(transactions) {
      if (remembered.size === 0) return;
      for (const { hash } of transactions) {
        const key = toKey(hash);
        const stopped = remembered.get(key);
        if (stopped === undefined) continue;
        remembered.delete(key);
        drops.delete(stopped.senderKey);
        suspects.delete(stopped.senderKey);
      }
    },
  };
}
