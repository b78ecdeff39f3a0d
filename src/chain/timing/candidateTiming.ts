import type { Block } from "../../types/block.ts";
import type { CoreContention, ThreadTimes } from "./coreContention.ts";
import type { BlockTimeBudget } from "./timeBudget.ts";

/**
 * Measures how long the candidate that is being decided takes from the end of its filling, or from its arrival, to its
 * commit; the time budget learns from it what this would have taken on free cores.
 */
export interface CandidateTiming {
  /** Called when our candidate is filled; `executionMs` estimates its execution on the other validators. */
  onFilled(number: bigint, executionMs: number): void;
  /** Called when the validation of another validator's candidate begins. */
  onValidationStarted(number: bigint): void;
  /** Called when a block was executed here. */
  onExecuted(number: bigint, executionMs: number): void;
  /** Called for each block that became the head. */
  onCommitted(block: Block): void;
}

interface TimedCandidate {
  readonly number: bigint;
  readonly sinceMs: number;
  readonly sinceTimes: ThreadTimes | undefined;
  readonly isOurs: boolean;
  /** Estimated execution time on other validators; for their candidates, the time it took here. */
  executionMs: number;
}

export function createCandidateTiming(
  nowMs: () => number,
  timeBudget: Pick<BlockTimeBudget, "learn" | "learnFromOthers">,
  contention: CoreContention,
): CandidateTiming {
  let candidate: TimedCandidate | undefined;
  return {
    onFilled(number, executionMs) {
      candidate = { number, sinceMs: nowMs(), sinceTimes: contention.mark(), isOurs: true, executionMs };
    },
    onValidationStarted(number) {
      candidate = { number, sinceMs: nowMs(), sinceTimes: contention.mark(), isOurs: false, executionMs: 0 };
    },
    onExecuted(number, executionMs) {
      if (candidate?.number === number && !candidate.isOurs) candidate.executionMs = executionMs;
    },
    onCommitted({ header, transactions }) {
      if (candidate?.number === header.number) {
        const tookMs = nowMs() - candidate.sinceMs;
        // Negative when the clock was set back; the time budget ignores it.
        const finishMs =
          tookMs < 0
            ? tookMs
            : Math.max(0, tookMs - candidate.executionMs) /
              (contention.slowdownSince(candidate.sinceTimes) ?? 1);
        if (candidate.isOurs) timeBudget.learn(transactions.length, finishMs);
        else timeBudget.learnFromOthers(transactions.length, finishMs);
      }
      candidate = undefined;
    },
  };
}
