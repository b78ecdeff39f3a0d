import type { Clock } from "../../primitives/clock.ts";
import {
  HIGHEST_TRANSACTION_SCORE,
  IGNORED_MESSAGE_SCORE,
  IGNORED_SCORE,
  SCORE_LEAK_PER_SECOND,
} from "./limits.ts";

/** What became of transactions that a peer sent; those that say nothing about it, such as known ones, count for neither. */
export interface ValidationCounts {
  readonly accepted: number;
  /** Signed by nobody, by somebody without money, for a nonce long used or far away. May be a fraction. */
  readonly rejected: number;
}

export const NO_COUNTS: ValidationCounts = { accepted: 0, rejected: 0 };

/**
 * How much useless work a peer's transactions made lately. It leaks, and useful ones take from it: an honest peer has some
 * whenever a block overtakes what it sends, and more than that only where most of what it sends is of no use for long.
 */
export interface TransactionScore {
  note(counts: ValidationCounts): void;
  /** A message came though we do not listen. */
  noteIgnored(): void;
  /** Its transactions are not worth reading for now. */
  readonly isIgnored: boolean;
  /** It goes on although nobody listens. */
  readonly isAtLimit: boolean;
}

export function createTransactionScore(clock: Pick<Clock, "nowMs">): TransactionScore {
  let score = 0;
  let countedMs = clock.nowMs();

  function add(change: number): void {
    const nowMs = clock.nowMs();
    const leaked = (Math.max(nowMs - countedMs, 0) / 1000) * SCORE_LEAK_PER_SECOND;
    countedMs = nowMs;
    score = Math.min(Math.max(0, score - leaked) + change, HIGHEST_TRANSACTION_SCORE);
    score = Math.max(score, 0);
  }

  return {
    note: ({ accepted, rejected }) => add(rejected - accepted),
    noteIgnored: () => add(IGNORED_MESSAGE_SCORE),
    get isIgnored() {
      add(0);
      return score >= IGNORED_SCORE;
    },
    get isAtLimit() {
      return score >= HIGHEST_TRANSACTION_SCORE;
    },
  };
}
