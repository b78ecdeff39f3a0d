import { AssertionFailed } from "../primitives/assert.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Result } from "../primitives/result.ts";
import type { Overlay } from "../state/overlay.ts";
import type { SentTransaction } from "../types/transaction.ts";
import { BlockReceipts, type ReceiptSettings } from "./blockReceipts.ts";
import type { BlockRules } from "./blockRules.ts";
import { type BlockSession, openSession } from "./blockSession.ts";
import type { TransactionCheckErrorCode } from "./checkTransaction.ts";
import { type BlockResult, beginBlock, endBlock } from "./executeBlock.ts";
import { executeTransaction, type TransactionOutcome } from "./executeTransaction.ts";
import { TRANSACTION_GAS } from "./intrinsicGas.ts";
import { createYieldPolicy, OutOfTime, type YieldPolicy } from "./yieldPolicy.ts";

/** Where a block's transactions come from, best first; the pool's selection is one. Price floors are its business. */
export interface TransactionSource {
  next(): SentTransaction | undefined;
  /** The one just returned cannot go in: leave out the rest of its sender for this block. */
  skipSender(): void;
}

export interface BuildSettings extends ReceiptSettings {
  readonly clock: Pick<Clock, "nowMs">;
  /**
   * No transaction is begun, and none is kept that ends, after this wall-clock time (ibft2.md#time-budget).
   */
  readonly deadlineMs: number;
  /** A block this full is closed at the first transaction that does not fit (--min-block-occupancy-ratio, 0.8). */
  readonly minOccupancyRatio: number;
  /** Most bytes of transactions; one that is larger goes in alone, or it would never be mined. */
  readonly maxBytes: number;
  /** None but the deadline unless given. */
  readonly timeLimits?: TimeLimits;
}

/** Says how long each transaction may run in one block, and hears of those that had to be stopped. */
export interface TimeLimits {
  /** Milliseconds, of the `leftMs` that the block has. "notNow": neither this one nor the rest of its sender. */
  limitMs(transaction: SentTransaction, leftMs: number): number | "notNow" | { readonly dropped: string };
  /** It was stopped at its limit, and nothing of it is left. Answers why it should be dropped, if it should. */
  stopped(
    transaction: SentTransaction,
    times: { readonly limitMs: number; readonly tookMs: number },
  ): string | undefined;
  /** Asked when the source is dry: one that was not to be tried before. */
  onceMore?(leftMs: number): SentTransaction | undefined;
}

export interface BuiltBlock extends BlockResult {
  readonly transactions: readonly SentTransaction[];
  /** State after the block, reward included. */
  readonly overlay: Overlay;
  /** Transactions that no block will ever take: the pool should forget them. */
  readonly dropped: readonly { readonly hash: Hash; readonly reason: string }[];
}

/**
 * Takes transactions from `source` until gas, bytes or time are spent or there are none left
 * (ibft2.md#transaction-selection), and executes them on `overlay`, which stands on the parent's state. Lets
 * the event loop have its turn every ten milliseconds. A transaction that runs into its time limit, or into
 * the deadline, is stopped and left out.
 */
export async function buildBlock(
  blockRules: BlockRules,
  source: TransactionSource,
  overlay: Overlay,
  settings: BuildSettings,
): Promise<BuiltBlock> {
  const { clock, deadlineMs, timeLimits = UNLIMITED } = settings;
  const bounds = { deadlineMs };
  const yieldPolicy = createYieldPolicy(clock, bounds);
  const unhurried = createYieldPolicy(clock);
  const newSession = (): BlockSession => openSession({ ...blockRules, overlay, yieldPolicy });
  let session = newSession();
  const receipts = new BlockReceipts(settings);
  const transactions: SentTransaction[] = [];
  const dropped: { hash: Hash; reason: string }[] = [];
  let bytes = 0;
  mustSucceed(await beginBlock(blockRules, session));

  while (clock.nowMs() < deadlineMs) {
    if (yieldPolicy.isDue() && !(await restedInTime(yieldPolicy))) break;
    const transaction = source.next() ?? timeLimits.onceMore?.(deadlineMs - clock.nowMs());
    if (transaction === undefined) break;
    const fit = fits(
      transaction,
      { gasLimit: blockRules.block.gasLimit, gasUsed: receipts.gasUsed, bytes },
      settings,
    );
    if (fit === "blockIsFull") break;
    if (fit === "tooLarge") {
      source.skipSender();
      continue;
    }
    const limit = timeLimits.limitMs(transaction, deadlineMs - clock.nowMs());
    if (typeof limit !== "number") {
      if (limit !== "notNow") dropped.push({ hash: transaction.hash, reason: limit.dropped });
      source.skipSender();
      continue;
    }
    const begunAtMs = clock.nowMs();
    bounds.deadlineMs = Math.min(deadlineMs, begunAtMs + limit);
    const executed = await tryTransaction(session, transaction, settings);
    const wasLimited = bounds.deadlineMs < deadlineMs;
    bounds.deadlineMs = deadlineMs;
    if (executed === undefined) {
      if (!wasLimited) break;
      // What was stopped half-way may have left something in the interpreter.
      session = newSession();
      const tookMs = clock.nowMs() - begunAtMs;
      const reason = timeLimits.stopped(transaction, { limitMs: limit, tookMs });
      if (reason !== undefined) dropped.push({ hash: transaction.hash, reason });
      source.skipSender();
      continue;
    }
    if (executed.ok) {
      // It is in the block already, whatever time it is by now.
      const adding = receipts.add(transaction.type, executed.value, unhurried);
      if (adding !== undefined) await adding;
      transactions.push(transaction);
      bytes += transaction.raw.length;
      continue;
    }
    const { code, message } = executed.error;
    if (!MAY_FIT_LATER.has(code)) dropped.push({ hash: transaction.hash, reason: message });
    if (code !== "nonceTooLow") source.skipSender();
  }

  mustSucceed(await endBlock(blockRules, openSession({ ...blockRules, overlay, yieldPolicy: unhurried })));
  const { gasUsed, logsBloom } = receipts;
  return { transactions, receipts: receipts.receipts, gasUsed, logsBloom, overlay, dropped };
}

/** Nothing but the deadline. */
const UNLIMITED: TimeLimits = {
  limitMs: () => Number.POSITIVE_INFINITY,
  stopped: () => undefined,
};

/** A gap in the nonces may close, and the base fee may fall. */
const MAY_FIT_LATER: ReadonlySet<TransactionCheckErrorCode> = new Set([
  "nonceTooHigh",
  "gasPriceBelowBaseFee",
]);

type Fit = "fits" | "tooLarge" | "blockIsFull";

function fits(
  transaction: SentTransaction,
  block: { readonly gasLimit: bigint; readonly gasUsed: bigint; readonly bytes: number },
  { minOccupancyRatio, maxBytes }: BuildSettings,
): Fit {
  const left = block.gasLimit - block.gasUsed;
  const leftBytes = maxBytes - block.bytes;
  if (transaction.gasLimit <= left && (transaction.raw.length <= leftBytes || block.bytes === 0))
    return "fits";
  const isWellFilled =
    Number(block.gasUsed) >= Number(block.gasLimit) * minOccupancyRatio ||
    block.bytes >= maxBytes * minOccupancyRatio;
  const isFull = left < TRANSACTION_GAS || leftBytes < SHORTEST_TRANSACTION_BYTES;
  return isWellFilled || isFull ? "blockIsFull" : "tooLarge";
}

/** Nothing that is signed is shorter: two words of signature, an address, and some small numbers. */
const SHORTEST_TRANSACTION_BYTES = 90;

/** Executes one transaction, or undoes it and answers undefined when it did not end in time. */
async function tryTransaction(
  session: BlockSession,
  transaction: SentTransaction,
  { clock, deadlineMs }: BuildSettings,
): Promise<TransactionOutcome | undefined> {
  const { overlay } = session;
  overlay.beginTransaction();
  overlay.checkpoint();
  try {
    const started = executeTransaction(session, transaction);
    const executed = started instanceof Promise ? await started : started;
    if (clock.nowMs() < deadlineMs) {
      overlay.commit();
      return executed;
    }
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
  }
  overlay.revert();
  return undefined;
}

async function restedInTime(yieldPolicy: YieldPolicy): Promise<boolean> {
  try {
    await yieldPolicy.yield();
    return true;
  } catch (error) {
    if (error instanceof OutOfTime) return false;
    throw error;
  }
}

/** A chain whose own system contracts fail cannot go on; every validator would refuse the block. */
function mustSucceed(outcome: Result<unknown, "systemCallFailed">): void {
  if (!outcome.ok) throw new AssertionFailed(outcome.error.message);
}
