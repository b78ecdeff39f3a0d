import { discardMachines } from "../execution/blockSession.ts";
import { ANY_EFFECTS } from "../execution/effectCost.ts";
import type { TimeLimits } from "../execution/timeLimits.ts";
import { OutOfTime } from "../execution/yieldPolicy.ts";
import type { Logger } from "../observability/logger.ts";
import { AssertionFailed } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import { DamagedData, DiskError } from "../storage/database.ts";
import type { SentTransaction } from "../types/transaction.ts";

/**
 * Handles exceptions of executions that are neither the result of a rule nor a reason to stop: a defect of the interpreter,
 * or memory that this machine lacks (architecture.md#faults-of-an-execution). They must not stop the chain, and no other
 * node is to blame.
 *
 *     while a block is built    discarded, built anew without the transaction, and executed once more before it is signed
 *     while one is checked      no vote, no bad block, no penalty for the peer
 *
 * A transaction that failed is set aside for some blocks, and dropped when it fails again. A block that fails after its
 * transactions were executed names none of them: they are suspects, and the next blocks have half of these alone, until one
 * is left.
 */
export class ExecutionFaults {
  private readonly logger: Logger;
  private readonly listeners: ((during: FaultyWork) => void)[] = [];
  /** Transactions that failed, keyed by hash, the oldest failure first. */
  private readonly failed = new Map<string, FailedTransaction>();
  /** Keys of transactions of which one made a block fail as a whole. */
  private suspects: ReadonlySet<string> = NONE;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** Calls `listener` for every fault. */
  onFault(listener: (during: FaultyWork) => void): void {
    this.listeners.push(listener);
  }

  /** Adds to the limits of one block that failed transactions are left out, for a while or for good, and half of the suspects. */
  limiting(limits: TimeLimits, number: bigint): TimeLimits {
    const { suspects } = this;
    if (this.failed.size === 0 && suspects.size === 0) return limits;
    let left = suspects.size === 0 ? Number.POSITIVE_INFINITY : Math.ceil(suspects.size / 2);
    return {
      limitMs: (transaction, leftMs) => {
        const key = toKey(transaction.hash);
        const known = this.failed.get(key);
        if (known !== undefined && known.tries >= MOST_TRIES) return { dropped: DROPPED };
        if (known !== undefined && number < known.notBefore) return "notNow";
        if (suspects.size > 0 && (!suspects.has(key) || left === 0)) return "notNow";
        left--;
        return limits.limitMs(transaction, leftMs);
      },
      stopped: (...stopped) => limits.stopped(...stopped),
      nextDeferred: (leftMs) => limits.nextDeferred?.(leftMs),
      effectLimit: (...asked) => limits.effectLimit?.(...asked) ?? ANY_EFFECTS,
      exceededEffects: (...stopped) => limits.exceededEffects?.(...stopped),
    };
  }

  /** Remembers a transaction that failed while block `number` was built. */
  transactionFailed({ hash }: SentTransaction, number: bigint, error: unknown): void {
    const key = toKey(hash);
    const tries = (this.failed.get(key)?.tries ?? 0) + 1;
    this.failed.delete(key);
    this.failed.set(key, { tries, notBefore: number + PAUSE_BLOCKS });
    for (const oldest of this.failed.keys()) {
      if (this.failed.size <= FAILED_LIMIT) break;
      this.failed.delete(oldest);
    }
    this.notify("building");
    const fields = { number, hash, error };
    if (tries < MOST_TRIES)
      this.logger.error(
        fields,
        "a transaction could not be executed because of a fault in this node; blocks are built without it for a while",
      );
    else this.logger.error(fields, "a transaction failed again in the same way and is dropped from the pool");
  }

  /** Notes that a block of these transactions could be finished. */
  candidateFinished(transactions: readonly SentTransaction[]): void {
    if (this.suspects.size === 0) return;
    const left = new Set(this.suspects);
    for (const { hash } of transactions) left.delete(toKey(hash));
    // Suspects that no block can have any more would keep all others waiting.
    this.suspects = left.size < this.suspects.size ? left : NONE;
  }

  /** Notes that a block of these transactions could not be finished, when none of them is known to be the cause. */
  candidateFailed(number: bigint, transactions: readonly SentTransaction[], error: unknown): void {
    const [first, ...others] = transactions;
    if (first !== undefined && others.length === 0) {
      this.suspects = NONE;
      this.transactionFailed(first, number, error);
      return;
    }
    const keys = transactions.map(({ hash }) => toKey(hash));
    const before = keys.filter((key) => this.failed.has(key));
    this.suspects = new Set(before.length > 0 && before.length < keys.length ? before : keys);
    this.notify("building");
    this.logger.often(
      "error",
      "a block could not be built because of a fault in this node; it is built without transactions",
      () => ({ number, suspects: keys.length, error }),
    );
  }

  /** Notes that a block could not be checked. */
  blockFailed(): void {
    this.notify("checking");
  }

  private notify(during: FaultyWork): void {
    discardMachines();
    for (const listener of this.listeners) listener(during);
  }
}

/** The work during which an execution failed. */
export type FaultyWork = "building" | "checking";

interface FailedTransaction {
  readonly tries: number;
  /** Number of the first block that may include it. */
  readonly notBefore: bigint;
}

const NONE: ReadonlySet<string> = new Set();
/** Number of failed executions after which a transaction is dropped. */
const MOST_TRIES = 2;
/** Number of blocks for which a transaction is set aside. */
const PAUSE_BLOCKS = 10n;
/** Most transactions that are remembered. */
const FAILED_LIMIT = 1_024;

const DROPPED = "this node failed to execute it";

/**
 * Whether an exception ends more than one execution: the disk or its data cannot be trusted, an invariant does not hold, or
 * the work was stopped.
 */
export function isBeyondExecution(error: unknown): boolean {
  return (
    error instanceof DiskError ||
    error instanceof DamagedData ||
    error instanceof AssertionFailed ||
    error instanceof OutOfTime
  );
}
