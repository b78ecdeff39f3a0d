import type { TransactionSource } from "../../execution/buildBlock.ts";
import { loadOf } from "../../execution/effectCost.ts";
import type { SentTransaction } from "../../types/transaction.ts";

/**
 * A source that ends as soon as one more transaction would make the block late, but yields at least one. Also reports the
 * execution time of the transactions that it has yielded, without those of skipped senders.
 */
export interface TimedSource extends TransactionSource {
  /** Estimate of what other validators need: CPU time, so that time given to other processes here does not count. */
  readonly executionMs: number;
}

export interface SourceClocks {
  nowMs(): number;
  /** CPU time used by this process, milliseconds. Absent if only the clock is available. */
  readonly cpuMs?: (() => number) | undefined;
}

interface SourceLimits {
  /** When filling began. */
  readonly startMs: number;
  /** Latest end of filling, before the time that each transaction adds. */
  readonly filledByMs: number;
  /** The same for transactions of large effects. */
  readonly largeByMs: number;
  /** Time that each transaction in the block adds to finishing it. */
  readonly allowedEachMs: number;
  /** Whether other validators have to execute the block after this node. */
  readonly hasOtherValidators: boolean;
}

/** Interval between readings of the CPU time, milliseconds: too costly for each of ten thousand transfers. */
const CPU_READ_INTERVAL_MS = 5;

export function createTimedSource(
  source: TransactionSource,
  { startMs, filledByMs, largeByMs, allowedEachMs, hasOtherValidators }: SourceLimits,
  { nowMs, cpuMs: processCpuMs }: SourceClocks,
): TimedSource {
  // A reading counts all threads of the process; without other validators nobody asks for the estimate.
  const cpuMs = hasOtherValidators ? processCpuMs : undefined;
  const startCpuMs = cpuMs?.() ?? 0;
  let taken = 0;
  /** Extra time of transactions with many effects, in usual transactions. */
  let extraLoad = 0;
  let lastNextMs = startMs;
  let skippedMs = 0;
  let usedCpuMs = 0;
  let cpuReadAtMs = startMs;

  function executionMs(): number {
    const durationMs = lastNextMs - startMs - skippedMs;
    if (cpuMs === undefined) return durationMs;
    if (lastNextMs - cpuReadAtMs >= CPU_READ_INTERVAL_MS) {
      usedCpuMs = cpuMs() - startCpuMs;
      cpuReadAtMs = lastNextMs;
    }
    return Math.min(durationMs, usedCpuMs + lastNextMs - cpuReadAtMs);
  }

  /** How much there is still time to finish when filling ends by `byMs`, in usual transactions. */
  function leftLoad(byMs: number): number {
    const othersMs = hasOtherValidators ? executionMs() : 0;
    return (byMs - lastNextMs - othersMs) / allowedEachMs - taken - extraLoad;
  }

  return {
    next(): SentTransaction | undefined {
      lastNextMs = nowMs();
      if (taken > 0 && leftLoad(filledByMs) <= 0) return undefined;
      taken++;
      return source.next();
    },
    skipSender() {
      skippedMs += nowMs() - lastNextMs;
      source.skipSender();
    },
    leftLargeLoad: () => leftLoad(largeByMs),
    added(effects) {
      extraLoad += loadOf(effects) - 1;
    },
    get executionMs() {
      return executionMs();
    },
  };
}
