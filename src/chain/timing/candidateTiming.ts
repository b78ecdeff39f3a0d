import type { Block } from "../../types/block.ts";
import type { CoreContention, ThreadTimes } from "./coreContention.ts";
import type { BlockTimeBudget } from "./timeBudget.ts";

/**
 * Measures how long the candidate that is being decided takes from the end of its filling, or from its arrival, to its
 * commit; the time budget learns from it what this would have taken on free cores.
 */
export interface CandidateTiming {
  /**
   * Called when our candidate is filled; `executionMs` estimates its execution on the other validators, and `load` is how long
   * finishing it takes, in usual transactions (execution/logCost.ts).
   */
  onFilled(number: bigint, filled: { readonly executionMs: number; readonly load: number }): void;
  /** Called when the validation of another validator's candidate begins. */
  onValidationStarted(number: bigint): void;
  /** Called when a block was executed here, with its load if it is valid. */
  onExecuted(number: bigint, executed: { readonly executionMs: number; readonly load?: number }): void;
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
  /** Undefined until it is executed. */
  load: number | undefined;
}

export function createCandidateTiming(
  nowMs: () => number,
  timeBudget: Pick<BlockTimeBudget, "learn" | "learnFromOthers">,
  contention: CoreContention,
): CandidateTiming {
  let candidate: TimedCandidate | undefined;
  const begun = (number: bigint) => ({ number, sinceMs: nowMs(), sinceTimes: contention.mark() });
  return {
    onFilled(number, { executionMs, load }) {
      candidate = { ...begun(number), isOurs: true, executionMs, load };
    },
    onValidationStarted(number) {
      candidate = { ...begun(number), isOurs: false, executionMs: 0, load: undefined };
    },
    onExecuted(number, { executionMs, load }) {
      if (candidate?.number === number && !candidate.isOurs) {
        candidate.executionMs = executionMs;
        candidate.load = load;
      }
    },
    onCommitted({ header, transactions }) {
      if (candidate?.number === header.number) {
        const tookMs = nowMs() - candidate.sinceMs;
        // Negative when the clock was set back; the time budget ignores it.
        const slowdown = contention.slowdownSince(candidate.sinceTimes);
        const finishMs = tookMs < 0 ? tookMs : Math.max(0, tookMs - candidate.executionMs) / (slowdown ?? 1);
        const { load = transactions.length } = candidate;
        if (candidate.isOurs) timeBudget.learn(load, finishMs, slowdown);
        else timeBudget.learnFromOthers(load, finishMs);
      }
      candidate = undefined;
    },
  };
}
