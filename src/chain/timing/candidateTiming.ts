import type { Block } from "../../types/block.ts";
import { type CoreContention, SHORTEST_CONTENTION_MS, type ThreadTimes } from "./coreContention.ts";
import type { BlockTimeBudget } from "./timeBudget.ts";

interface TimedCandidate {
  readonly number: bigint;
  readonly sinceMs: number;
  readonly sinceTimes: ThreadTimes | undefined;
  readonly isOurs: boolean;
  /** Estimated execution time on other validators; for their candidates, the time it took here. */
  executionMs: number;
  /** Time to finish the block, in usual transactions; undefined until it is executed. */
  load: number | undefined;
}

/**
 * Measures how long the candidate being decided takes from the end of its filling, or from its arrival, to its commit; from
 * that the time budget learns how long it would have taken on free cores.
 */
export class CandidateTiming {
  private readonly nowMs: () => number;
  private readonly timeBudget: Pick<BlockTimeBudget, "learn" | "learnFromOthers">;
  private readonly contention: CoreContention;
  private candidate: TimedCandidate | undefined;

  constructor(
    nowMs: () => number,
    timeBudget: Pick<BlockTimeBudget, "learn" | "learnFromOthers">,
    contention: CoreContention,
  ) {
    this.nowMs = nowMs;
    this.timeBudget = timeBudget;
    this.contention = contention;
  }

  /**
   * Called when our candidate is filled; `executionMs` estimates its execution on the other validators, and `load` is how long
   * finishing it takes, in usual transactions (execution/effectCost.ts).
   */
  onFilled(
    number: bigint,
    { executionMs, load }: { readonly executionMs: number; readonly load: number },
  ): void {
    this.candidate = { ...this.begun(number), isOurs: true, executionMs, load };
  }

  /** Called when the validation of another validator's candidate begins. */
  onValidationStarted(number: bigint): void {
    this.candidate = { ...this.begun(number), isOurs: false, executionMs: 0, load: undefined };
  }

  /** Called when a block was executed here, with its load if it is valid. */
  onExecuted(
    number: bigint,
    { executionMs, load }: { readonly executionMs: number; readonly load?: number },
  ): void {
    if (this.candidate?.number === number && !this.candidate.isOurs) {
      this.candidate.executionMs = executionMs;
      this.candidate.load = load;
    }
  }

  /** Called for each block that became the head. */
  onCommitted({ header, transactions }: Block): void {
    if (this.candidate?.number === header.number) {
      const tookMs = this.nowMs() - this.candidate.sinceMs;
      // Negative when the clock was set back; the time budget ignores it.
      // A small block is finished sooner than a slowdown can be measured, and then the file of the times is not worth reading.
      const isMeasurable = tookMs >= SHORTEST_CONTENTION_MS;
      const slowdown = isMeasurable ? this.contention.slowdownSince(this.candidate.sinceTimes) : undefined;
      const finishMs =
        tookMs < 0 ? tookMs : Math.max(0, tookMs - this.candidate.executionMs) / (slowdown ?? 1);
      const { load = transactions.length } = this.candidate;
      if (this.candidate.isOurs) this.timeBudget.learn(load, finishMs, slowdown);
      else this.timeBudget.learnFromOthers(load, finishMs);
    }
    this.candidate = undefined;
  }

  private begun(number: bigint) {
    return { number, sinceMs: this.nowMs(), sinceTimes: this.contention.mark() };
  }
}
