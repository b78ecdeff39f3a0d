import type { Clock } from "../../primitives/clock.ts";
import { TokenBucket } from "../../primitives/tokenBucket.ts";
import type { Transaction } from "../../types/transaction.ts";
import {
  HIGHEST_TRANSACTION_SCORE,
  IGNORED_MESSAGE_SCORE,
  IGNORED_SCORE,
  SCORE_LEAK_PER_SECOND,
} from "./limits.ts";

/**
 * Validation results of a peer's transactions; results that say nothing about the peer, such as known transactions,
 * count for neither.
 */
export interface ValidationCounts {
  readonly accepted: number;
  /**
   * Number of rejected transactions, which may be a fraction: invalid signature, insufficient balance, a nonce used long ago
   * or far in the future.
   */
  readonly rejected: number;
  /** Transactions that the full pool had no room for, to be requested again later; absent when there are none. */
  readonly withoutPlace?: readonly Transaction[];
}

export const NO_COUNTS: ValidationCounts = { accepted: 0, rejected: 0 };

/**
 * Score of the work that a peer's rejected transactions caused recently. It leaks, and accepted ones reduce it: an honest
 * peer has some rejections whenever a block supersedes what it sends, and more only if most of its transactions are invalid
 * for long.
 */
export interface TransactionScore {
  note(counts: ValidationCounts): void;
  /** Notes that a message arrived from the ignored peer. */
  noteIgnored(): void;
  /** True while the peer's transactions are ignored. */
  readonly isIgnored: boolean;
  /** True when the peer continues although it is ignored. */
  readonly isAtLimit: boolean;
}

export function createTransactionScore(clock: Pick<Clock, "nowMs">): TransactionScore {
  /** The bucket holds the distance to the highest score. */
  const left = new TokenBucket(LEAK, clock.nowMs());

  function add(change: number): void {
    left.refill(clock.nowMs());
    left.spend(change);
  }

  return {
    note: ({ accepted, rejected }) => add(rejected - accepted),
    noteIgnored: () => add(IGNORED_MESSAGE_SCORE),
    get isIgnored() {
      return HIGHEST_TRANSACTION_SCORE - left.refill(clock.nowMs()) >= IGNORED_SCORE;
    },
    get isAtLimit() {
      return left.left <= 0;
    },
  };
}

const LEAK = { capacity: HIGHEST_TRANSACTION_SCORE, perMs: SCORE_LEAK_PER_SECOND / 1000, maxDebt: 0 };
