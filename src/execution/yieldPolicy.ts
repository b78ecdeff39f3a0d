import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Clock } from "../primitives/clock.ts";
import type { Pacer } from "../primitives/pacer.ts";
import type { TimeSlice } from "../primitives/timeSlice.ts";
import type { Effects } from "./effectCost.ts";
import { MemoryBudget } from "./memoryBudget.ts";

/** Makes long work yield to the event loop, so that consensus and callers wait milliseconds, not seconds. */
export interface YieldPolicy extends Pacer {
  /** True when it is time to yield. Cheap enough to call at every jump of a contract. */
  isDue(): boolean;
  /** Resolves after other work has run. Throws OutOfTime once the deadline has passed or no caller waits any more. */
  yield(): Promise<void>;
  /** Bounds work that must not yield at all; absent for other work. */
  readonly deadline?: DeadlineCheck;
  /** Counts the memory in use; absent if gas is the only bound. */
  readonly memory?: MemoryBudget;
  /** Bounds the effects of each transaction; absent where gas is their only bound. */
  readonly effects?: EffectBound;
}

/** Bounds the effects of transactions. Read at each of them, so that the owner can change it between two transactions. */
interface EffectBound {
  /** The most that one transaction may have. Beyond it, EffectsBeyondLimit is thrown. */
  readonly limit: Effects;
}

/**
 * Bounds work that blocks the thread: it completes synchronously or is aborted. The deadline is checked before each read of the
 * state and every few thousand gas at most, because gas bounds time only loosely.
 */
interface DeadlineCheck {
  /** Throws OutOfTime once the deadline has passed. */
  check(): void;
  /** Throws OutOfTime: called before a step of unpredictable duration. */
  abort(): never;
}

/** Work was stopped because its deadline passed or no caller waits for it any more. */
export class OutOfTime extends Error {
  override name = "OutOfTime";
}

/** A transaction was stopped before effects for which its block has no room. */
export class EffectsBeyondLimit extends OutOfTime {
  override name = "EffectsBeyondLimit";
  /** Its effects, with the refused ones. Those of reverted calls do not count. */
  readonly needed: Effects;

  constructor(needed: Effects) {
    super("the logs, the code or the changes of a transaction cost more than its block has room for");
    this.needed = needed;
  }
}

/** Bounds of work that yields. Read at every check, so that the owner can change them while the work runs. */
interface YieldSettings {
  /** Wall-clock time by which the work must end. */
  readonly deadlineMs?: number;
  /** Aborted once no caller waits for the work any more. */
  readonly signal?: StopSignal;
  readonly effects?: EffectBound;
}

/** Lets running work check whether a caller still waits for it. */
export type StopSignal = Pick<AbortSignal, "aborted">;

/** The signal of work that always runs to its end. */
export const NEVER_STOPPED: StopSignal = { aborted: false };

/**
 * Yields every SLICE_MS milliseconds, or less often if other work would otherwise take most of the thread.
 */
export function createYieldPolicy(clock: Pick<Clock, "nowMs">, settings: YieldSettings = {}): YieldPolicy {
  const deadlineMs = (): number => settings.deadlineMs ?? Number.POSITIVE_INFINITY;
  let yieldAtMs = clock.nowMs() + SLICE_MS;
  return {
    isDue: () => {
      const nowMs = clock.nowMs();
      return nowMs >= yieldAtMs || nowMs >= deadlineMs();
    },
    async yield() {
      const startMs = clock.nowMs();
      if (startMs >= deadlineMs()) throw new OutOfTime("the time for this work is up");
      await yieldToEventLoop();
      if (settings.signal?.aborted === true) throw new OutOfTime("no caller waits for this work any more");
      const nowMs = clock.nowMs();
      yieldAtMs = nowMs + Math.min(Math.max(SLICE_MS, 2 * (nowMs - startMs)), LONGEST_SLICE_MS);
    },
    ...(settings.effects !== undefined && { effects: settings.effects }),
  };
}

const SLICE_MS = 10;
/** Longest slice, and so the longest delay for a caller and for each message on its way to a block. */
const LONGEST_SLICE_MS = 200;

/** Policy of work that never yields: it ends before `endMs` on this clock, or throws OutOfTime. */
export function deadlineOnly(
  nowMs: () => number,
  endMs: number,
): YieldPolicy & { readonly deadline: DeadlineCheck } {
  const isDue = (): boolean => nowMs() >= endMs;
  const abort = (): never => {
    throw new OutOfTime("this work takes too long to run without yielding");
  };
  return {
    isDue,
    yield: async () => abort(),
    deadline: {
      check() {
        if (isDue()) abort();
      },
      abort,
    },
  };
}

/** Policy of threads with no other work. */
export const NEVER_YIELD: YieldPolicy = {
  isDue: () => false,
  yield: () => Promise.resolve(),
};

/**
 * Policy of work on one overlay on a thread with no other work, which is terminated from outside: one call, one block, or a
 * sequence of calls traced on top of each other. The budget covers all of it. Throws MemoryExhausted. Within a slice, work
 * that takes more time or much memory is given up, to be started again without one: throws SliceUsedUp.
 */
export function memoryBounded(
  limitBytes = CALL_MEMORY_BYTES,
  slice?: TimeSlice,
): YieldPolicy & { readonly memory: MemoryBudget } {
  const { isDue, yield: yieldNow } = NEVER_YIELD;
  if (slice === undefined) return { isDue, yield: yieldNow, memory: new MemoryBudget(limitBytes) };
  return {
    isDue: () => slice.isUsedUp(),
    yield: async () => slice.giveUp(),
    memory: new MemoryBudget(Math.min(limitBytes, SLICE_MEMORY_BYTES), () => slice.giveUp()),
  };
}

const CALL_MEMORY_BYTES = 256 * 1024 * 1024;
/** Memory of a job in its first slice, so that a second thread for such jobs takes little. */
const SLICE_MEMORY_BYTES = 64 * 1024 * 1024;
