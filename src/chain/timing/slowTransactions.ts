import type { TimeLimits } from "../../execution/timeLimits.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { SentTransaction } from "../../types/transaction.ts";
import { StoppedTransactions } from "./stoppedTransactions.ts";
import { TimedOutSenders } from "./timedOutSenders.ts";

interface FillingWindow {
  readonly number: bigint;
  readonly windowMs: number;
  /** True when no other validator has to execute the block in the same period, so the rest of the window may be used. */
  readonly isLoneValidator: boolean;
}

interface SlowTransactionParts {
  nowMs(): number;
  /** CPU time used by this process, milliseconds. Absent if only the clock is available. */
  readonly cpuMs?: (() => number) | undefined;
  /** Whether a contract is asked about each transaction, within the transaction's time. */
  readonly isContractAsked?: boolean;
  readonly logger: Logger;
}

/** Time limits of a new transaction, and of a retry, as shares of the filling window. */
const FIRST_SHARE = 1 / 8;
const RETRY_SHARE = 1 / 4;
/** Share of the window that stopped new transactions may take together, before those above HARMLESS_GAS wait. */
const WASTE_SHARE = 1 / 4;
/** Minimum time limit of a new transaction after others of the block were stopped. */
const MIN_SHARE = 1 / 64;
/** A lone validator retries in spare time if at least this share of the window, and no other transaction, is left. */
const SPARE_SHARE = 1 / 2;
/** Share of the spare time given to the retry; the block has to be finished, too. */
const SPARE_USED = 0.9;
/** Number of blocks for which a lone validator waits for spare time before it retries as others do. */
const SPARE_WAIT_BLOCKS = 8n;
/**
 * A transaction with this gas limit runs for some milliseconds at most, whatever it executes. That says nothing about the
 * contract that decides who may send, which is called with the gas of a whole block.
 */
const HARMLESS_GAS = 100_000n;
/**
 * A try in which this process got less than this share of the time as CPU time, because the machine was busy with other
 * processes, counts as a quarter of a try.
 */
const MIN_CPU_SHARE = 1 / 2;
const BUSY_TRY = 1 / 4;

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
 * the window is lost, transactions with a gas limit above HARMLESS_GAS wait for another block, and all where a contract is
 * asked about each.
 *
 * A sender pays nothing for a stopped transaction and may replace it at once. The sender of a stopped transaction is therefore
 * remembered (timedOutSenders.ts): time lost on the new transactions of such senders does not count against others, and after
 * the first such transaction is stopped in a block, further ones above HARMLESS_GAS wait.
 */
export class SlowTransactions {
  private readonly parts: SlowTransactionParts;
  private readonly stopped: StoppedTransactions;
  private readonly timedOutSenders: TimedOutSenders;

  constructor(parts: SlowTransactionParts) {
    this.parts = parts;
    this.stopped = new StoppedTransactions(parts);
    this.timedOutSenders = new TimedOutSenders(parts.nowMs);
  }

  /** Limits for one block whose filling may take `windowMs`. */
  limitsFor(block: FillingWindow): TimeLimits {
    const { parts, stopped, timedOutSenders } = this;
    return new BlockTimeLimits(block, { ...parts, stopped, timedOutSenders });
  }

  /** Called with the transactions of each new block. */
  onMined(transactions: readonly { readonly hash: Hash }[]): void {
    if (this.stopped.isEmpty) return;
    for (const { hash } of transactions) {
      const senderKey = this.stopped.removeMined(hash);
      if (senderKey !== undefined) this.timedOutSenders.clear(senderKey);
    }
  }
}

interface BlockTimeLimitsParts extends SlowTransactionParts {
  readonly stopped: StoppedTransactions;
  readonly timedOutSenders: TimedOutSenders;
}

/** The limits within one block. */
class BlockTimeLimits implements TimeLimits {
  private readonly block: FillingWindow;
  private readonly parts: BlockTimeLimitsParts;
  /** Time lost on new transactions. */
  private lostMs = 0;
  private hasRetried = false;
  /** True once a new transaction of a timed-out sender was stopped in this block. */
  private hasStoppedKnownSender = false;
  /** A stopped transaction to retry in spare time. */
  private spare: SentTransaction | undefined;
  private isSpare = false;
  private startCpuMs = 0;

  constructor(block: FillingWindow, parts: BlockTimeLimitsParts) {
    this.block = block;
    this.parts = parts;
  }

  limitMs(transaction: SentTransaction, leftMs: number): ReturnType<TimeLimits["limitMs"]> {
    const { number, windowMs, isLoneValidator } = this.block;
    const { nowMs, cpuMs, stopped } = this.parts;
    // Reading the CPU time is too costly for each of ten thousand transfers.
    if (!this.isHarmless(transaction)) this.startCpuMs = cpuMs?.() ?? 0;
    const known = stopped.find(transaction);
    if (known === undefined) return this.limitOfNew(transaction);
    if (known.reason !== undefined) return { dropped: known.reason };
    known.seenMs = nowMs();
    if (this.isSpare) return leftMs * SPARE_USED;
    const limitMs = windowMs * RETRY_SHARE;
    if (this.hasRetried || number < known.notBefore || leftMs < limitMs) return "notNow";
    if (isLoneValidator && number < known.notBefore + SPARE_WAIT_BLOCKS) {
      this.spare ??= transaction;
      return "notNow";
    }
    this.hasRetried = true;
    return limitMs;
  }

  stopped(
    transaction: SentTransaction,
    { limitMs, tookMs }: { readonly limitMs: number; readonly tookMs: number },
  ): string | undefined {
    const { number, windowMs } = this.block;
    const { cpuMs, stopped, timedOutSenders } = this.parts;
    const isNew = stopped.find(transaction) === undefined;
    if (isNew && timedOutSenders.has(transaction)) this.hasStoppedKnownSender = true;
    else if (isNew) this.lostMs += tookMs;
    const isWholeTry = !isNew || limitMs >= windowMs * FIRST_SHARE;
    const usedMs = cpuMs === undefined ? tookMs : cpuMs() - this.startCpuMs;
    const hadCpu = this.isHarmless(transaction) || usedMs >= tookMs * MIN_CPU_SHARE;
    const weight = isWholeTry ? (hadCpu ? 1 : BUSY_TRY) : 0;
    if (weight >= 1) timedOutSenders.add(transaction);
    return stopped.stop(transaction, { number, weight, ranMs: tookMs });
  }

  nextDeferred(leftMs: number): SentTransaction | undefined {
    if (this.spare === undefined || this.isSpare || this.hasRetried) return undefined;
    if (leftMs < this.block.windowMs * SPARE_SHARE) return undefined;
    this.isSpare = true;
    this.hasRetried = true;
    return this.spare;
  }

  private limitOfNew(transaction: SentTransaction): number | "notNow" {
    const { windowMs } = this.block;
    const isHarmless = this.isHarmless(transaction);
    if (!isHarmless && this.parts.timedOutSenders.has(transaction))
      return this.hasStoppedKnownSender ? "notNow" : windowMs * FIRST_SHARE;
    if (!isHarmless && this.lostMs >= windowMs * WASTE_SHARE) return "notNow";
    return Math.max(windowMs * FIRST_SHARE - this.lostMs, windowMs * MIN_SHARE);
  }

  private isHarmless({ gasLimit }: SentTransaction): boolean {
    return gasLimit <= HARMLESS_GAS && this.parts.isContractAsked !== true;
  }
}
