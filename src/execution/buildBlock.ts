import { AssertionFailed } from "../primitives/assert.ts";
import type { Clock } from "../primitives/clock.ts";
import { type Eventual, onceKnown } from "../primitives/eventual.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Result } from "../primitives/result.ts";
import type { Overlay } from "../state/overlay.ts";
import type { SentTransaction } from "../types/transaction.ts";
import { type BlockRoom, type Fit, fits } from "./blockFit.ts";
import { BlockReceipts, type ReceiptSettings } from "./blockReceipts.ts";
import type { BlockRules } from "./blockRules.ts";
import { BlockSession } from "./blockSession.ts";
import { ANY_EFFECTS, type Effects } from "./effectCost.ts";
import { type BlockResult, beginBlock, endBlock } from "./executeBlock.ts";
import {
  type ExecutionErrorCode,
  executeTransaction,
  type TransactionOutcome,
} from "./executeTransaction.ts";
import { revertInTurns } from "./longRevert.ts";
import { isNoLimit, type NoLimit, type TimeLimits } from "./timeLimits.ts";
import { TransactionFault } from "./transactionFault.ts";
import type { AskPermission } from "./transactionPermission.ts";
import type { TransactionResult } from "./transactionResult.ts";
import { createYieldPolicy, EffectsBeyondLimit, OutOfTime, type YieldPolicy } from "./yieldPolicy.ts";

/** Supplies a block's transactions, best first; the pool's selection implements it. The source applies price floors. */
export interface TransactionSource {
  next(): SentTransaction | undefined;
  /** The transaction just returned does not fit: skips the rest of its sender for this block. */
  skipSender(): void;
  /**
   * How large the effects of the next transaction may be, given the time left to finish the block, in usual transactions
   * (effectCost.ts); absent if time does not count.
   */
  leftLargeLoad?(): number;
  /** Called for each added transaction. */
  added?(effects: Effects): void;
}

export interface BuildSettings extends ReceiptSettings, BlockRoom {
  readonly clock: Pick<Clock, "nowMs">;
  /** Wall-clock time after which no transaction starts, and none that ends later is kept (ibft2.md#time-budget). */
  readonly deadlineMs: number;
  /** Time limits of transactions; by default only the deadline. */
  readonly timeLimits?: TimeLimits;
  /** Absent where no contract decides who may send. */
  readonly askPermission?: AskPermission | undefined;
}

export interface BuiltBlock extends BlockResult {
  readonly transactions: readonly SentTransaction[];
  /** State after the block, reward included. */
  readonly overlay: Overlay;
  /** Transactions that no block can include: the pool should remove them. */
  readonly dropped: readonly { readonly hash: Hash; readonly reason: string }[];
}

/**
 * Takes transactions from `source` until gas, bytes or time are used up or none is left
 * (ibft2.md#transaction-selection), and executes them on `overlay`, which starts from the parent's state. Yields to the
 * event loop every ten milliseconds. A transaction that exceeds its time limit, the deadline or the limit of its effects is
 * stopped and omitted. Throws TransactionFault for what the execution of a transaction throws, except AssertionFailed.
 */
export async function buildBlock(
  blockRules: BlockRules,
  source: TransactionSource,
  overlay: Overlay,
  settings: BuildSettings,
): Promise<BuiltBlock> {
  const builder = new BlockBuilder(blockRules, source, overlay, settings);
  // The deadline bounds transactions alone: the system calls are part of every block, also of one that has none.
  const withoutDeadline = (): BlockSession =>
    new BlockSession({ ...blockRules, overlay, yieldPolicy: createYieldPolicy(settings.clock) });
  mustSucceed(await beginBlock(blockRules, withoutDeadline()));
  await builder.fill();
  mustSucceed(await endBlock(blockRules, withoutDeadline()));
  const { transactions, dropped } = builder;
  const { receipts, gasUsed, logsBloom, load } = builder.receipts;
  return { transactions, receipts, gasUsed, logsBloom, load, overlay, dropped };
}

/** A block in progress. */
class BlockBuilder {
  readonly transactions: SentTransaction[] = [];
  readonly dropped: { hash: Hash; reason: string }[] = [];
  readonly receipts: BlockReceipts;
  private session: BlockSession;
  /** Bytes of the transactions. */
  private bytes = 0;
  private readonly blockRules: BlockRules;
  private readonly source: TransactionSource;
  private readonly overlay: Overlay;
  private readonly settings: BuildSettings;
  private readonly timeLimits: TimeLimits;
  /** The time at which the running transaction is stopped, or else the block's deadline; and the most effects that it may have. */
  private readonly bounds: { deadlineMs: number; readonly effects: { limit: Effects } };
  private readonly yieldPolicy: YieldPolicy;
  private readonly withoutDeadline: YieldPolicy;

  constructor(blockRules: BlockRules, source: TransactionSource, overlay: Overlay, settings: BuildSettings) {
    this.blockRules = blockRules;
    this.source = source;
    this.overlay = overlay;
    this.settings = settings;
    this.timeLimits = settings.timeLimits ?? UNLIMITED;
    this.receipts = new BlockReceipts(settings);
    this.bounds = { deadlineMs: settings.deadlineMs, effects: { limit: ANY_EFFECTS } };
    this.yieldPolicy = createYieldPolicy(settings.clock, this.bounds);
    this.withoutDeadline = createYieldPolicy(settings.clock);
    this.session = this.newSession();
  }

  /** Adds transactions until the block is full, time is up, or no transaction is left. */
  async fill(): Promise<void> {
    const { settings, source, bounds, yieldPolicy } = this;
    const { clock, deadlineMs } = settings;
    while (clock.nowMs() < deadlineMs) {
      if (yieldPolicy.isDue() && !(await yieldInTime(yieldPolicy))) return;
      const transaction = source.next() ?? this.timeLimits.nextDeferred?.(deadlineMs - clock.nowMs());
      if (transaction === undefined) return;
      const fit = this.fitOf(transaction);
      if (fit === "blockIsFull") return;
      const limitMs = fit === "tooLarge" ? undefined : this.limitOf(transaction);
      if (limitMs === undefined) {
        source.skipSender();
        continue;
      }
      const startMs = clock.nowMs();
      const stopAtMs = Math.min(deadlineMs, startMs + limitMs);
      bounds.deadlineMs = stopAtMs;
      const trying = this.tryTransaction(transaction);
      const executed = trying instanceof Promise ? await trying : trying;
      bounds.deadlineMs = deadlineMs;
      const tookMs = clock.nowMs() - startMs;
      if (executed instanceof EffectsBeyondLimit) this.onExceededEffects(transaction, executed, tookMs);
      else if (executed !== undefined) {
        const adding = this.onExecuted(transaction, executed);
        if (adding !== undefined) await adding;
      } else if (stopAtMs < deadlineMs) this.onStopped(transaction, { limitMs, tookMs });
      else return;
    }
  }

  /**
   * Executes one transaction; undoes it if it is stopped by its time or its effects. Synchronous if the execution is, as most
   * are.
   */
  private tryTransaction(transaction: SentTransaction): Eventual<Tried> {
    this.overlay.beginTransaction();
    this.overlay.checkpoint();
    try {
      const started = executeTransaction(this.session, transaction);
      if (!(started instanceof Promise)) return this.keepIfInTime(started);
      return started.then(
        (executed) => this.keepIfInTime(executed),
        (error: unknown) => this.undoIfStopped(transaction, error),
      );
    } catch (error) {
      return this.undoIfStopped(transaction, error);
    }
  }

  private keepIfInTime(executed: TransactionOutcome): Eventual<Tried> {
    const { clock, deadlineMs } = this.settings;
    if (clock.nowMs() < deadlineMs) {
      this.overlay.commit();
      return executed;
    }
    return onceKnown(revertInTurns(this.overlay), () => undefined);
  }

  private undoIfStopped(
    transaction: SentTransaction,
    error: unknown,
  ): Eventual<EffectsBeyondLimit | undefined> {
    if (!(error instanceof OutOfTime)) faultOf(transaction, error);
    return onceKnown(revertInTurns(this.overlay), () =>
      error instanceof EffectsBeyondLimit ? error : undefined,
    );
  }

  private fitOf(transaction: SentTransaction): Fit {
    const { gasLimit } = this.blockRules.block;
    return fits(transaction, { gasLimit, gasUsed: this.receipts.gasUsed, bytes: this.bytes }, this.settings);
  }

  /**
   * Bounds the effects of the next transaction and returns its time limit in milliseconds; undefined if this block may not have
   * it.
   */
  private limitOf(transaction: SentTransaction): number | undefined {
    const { timeLimits, source, receipts } = this;
    const { clock, deadlineMs } = this.settings;
    const timelyLoad = source.leftLargeLoad?.() ?? Number.POSITIVE_INFINITY;
    const effects =
      timeLimits.effectLimit?.(transaction, { used: receipts.effects, timelyLoad }) ?? ANY_EFFECTS;
    if (isNoLimit(effects)) return this.omit(transaction, effects);
    this.bounds.effects.limit = effects;
    const limit = timeLimits.limitMs(transaction, deadlineMs - clock.nowMs());
    return typeof limit === "number" ? limit : this.omit(transaction, limit);
  }

  private omit({ hash }: SentTransaction, limit: NoLimit): undefined {
    if (limit !== "notNow") this.dropped.push({ hash, reason: limit.dropped });
  }

  /** Called after a transaction was stopped at its limit and undone. */
  private onStopped(
    transaction: SentTransaction,
    times: { readonly limitMs: number; readonly tookMs: number },
  ): void {
    this.leaveOut(transaction, this.timeLimits.stopped(transaction, times));
  }

  /** Called after a transaction was stopped for its effects and undone. */
  private onExceededEffects(
    transaction: SentTransaction,
    { needed }: EffectsBeyondLimit,
    tookMs: number,
  ): void {
    const { limit } = this.bounds.effects;
    this.leaveOut(transaction, this.timeLimits.exceededEffects?.(transaction, { limit, needed, tookMs }));
  }

  private leaveOut({ hash }: SentTransaction, reason: string | undefined): void {
    // A stopped transaction may have left state in the interpreter.
    this.session = this.newSession();
    if (reason !== undefined) this.dropped.push({ hash, reason });
    this.source.skipSender();
  }

  /** Adds the transaction to the block, unless it is invalid. The block must not be changed before the promise has resolved. */
  private onExecuted(transaction: SentTransaction, executed: TransactionOutcome): Promise<void> | undefined {
    if (executed.ok) {
      this.transactions.push(transaction);
      this.bytes += transaction.raw.length;
      this.source.added?.(executed.value.effects);
      // The transaction is part of the block, even if the deadline has passed by now.
      return this.addReceipt(transaction, executed.value);
    }
    const { code, message } = executed.error;
    if (!MAY_FIT_LATER.has(code)) this.dropped.push({ hash: transaction.hash, reason: message });
    if (code !== "nonceTooLow") this.source.skipSender();
    return undefined;
  }

  private addReceipt(transaction: SentTransaction, result: TransactionResult): Promise<void> | undefined {
    try {
      const adding = this.receipts.add(transaction.type, result, this.withoutDeadline);
      return adding?.catch((error: unknown) => faultOf(transaction, error));
    } catch (error) {
      return faultOf(transaction, error);
    }
  }

  private newSession(): BlockSession {
    const { blockRules, overlay, yieldPolicy } = this;
    const { askPermission } = this.settings;
    return new BlockSession({ ...blockRules, overlay, yieldPolicy, askPermission });
  }
}

/** Wraps an exception of the execution, which may have left anything in the overlay and the session: both are then unusable. */
function faultOf(transaction: SentTransaction, error: unknown): never {
  throw error instanceof AssertionFailed ? error : new TransactionFault(transaction, error);
}

/** The outcome; undefined if time was up; or why the transaction was stopped for its effects. */
type Tried = TransactionOutcome | EffectsBeyondLimit | undefined;

/** Limits under which only the deadline applies. */
const UNLIMITED: TimeLimits = {
  limitMs: () => Number.POSITIVE_INFINITY,
  stopped: () => undefined,
};

/** Errors that a later block may not have: a gap in the nonces may close, and the base fee may fall. */
const MAY_FIT_LATER: ReadonlySet<ExecutionErrorCode> = new Set(["nonceTooHigh", "gasPriceBelowBaseFee"]);

async function yieldInTime(yieldPolicy: YieldPolicy): Promise<boolean> {
  try {
    await yieldPolicy.yield();
    return true;
  } catch (error) {
    if (error instanceof OutOfTime) return false;
    throw error;
  }
}

/** A chain whose system contracts fail cannot continue: every validator would reject the block. */
function mustSucceed(result: Result<unknown, "systemCallFailed">): void {
  if (!result.ok) throw new AssertionFailed(result.error.message);
}
