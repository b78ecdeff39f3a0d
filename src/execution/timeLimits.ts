import type { SentTransaction } from "../types/transaction.ts";
import type { Effects } from "./effectCost.ts";

/** Limits how long each transaction may run in one block and which effects it may have, and records those that were stopped. */
export interface TimeLimits {
  /** Milliseconds, given that the block has `leftMs` left. */
  limitMs(transaction: SentTransaction, leftMs: number): Limit;
  /** Called after a transaction was stopped at its limit and undone. Returns the reason to drop it, if any. */
  stopped(
    transaction: SentTransaction,
    times: { readonly limitMs: number; readonly tookMs: number },
  ): string | undefined;
  /** The most effects that a transaction may have. Called before `limitMs`. Absent if gas is the only bound. */
  effectLimit?(transaction: SentTransaction, block: EffectRoom): Effects | NoLimit;
  /** Called after a transaction with more effects was stopped and undone. Returns the reason to drop it, if any. */
  exceededEffects?(
    transaction: SentTransaction,
    facts: { readonly limit: Effects; readonly needed: Effects; readonly tookMs: number },
  ): string | undefined;
  /** Called when the source is exhausted: returns a transaction that was deferred before. */
  nextDeferred?(leftMs: number): SentTransaction | undefined;
}

export type Limit = number | NoLimit;

/** "notNow" skips the transaction and the rest of its sender's; `dropped` is the reason why no block can have it. */
export type NoLimit = "notNow" | { readonly dropped: string };

export function isNoLimit(limit: Effects | NoLimit): limit is NoLimit {
  return limit === "notNow" || "dropped" in limit;
}

/** What a block has room for. */
export interface EffectRoom {
  /** The effects of the transactions that it has. */
  readonly used: Effects;
  /** How large the next ones may be, given the time left to finish the block, in usual transactions (effectCost.ts). */
  readonly timelyLoad: number;
}
