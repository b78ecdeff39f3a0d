import type { Clock } from "../primitives/clock.ts";
import type { Steps } from "../primitives/steps.ts";
import { MemoryBudget } from "./memoryBudget.ts";

/** Lets the rest of the thread breathe during long work: consensus and callers wait some milliseconds, not seconds. */
export interface YieldPolicy {
  /** True when it is time to rest. Cheap enough to be asked at every jump of a contract. */
  isDue(): boolean;
  /** Comes back when others had their turn. Throws OutOfTime once the deadline has passed. */
  yield(): Promise<void>;
  /** Holds work that may not even rest; absent where it may. */
  readonly deadline?: DeadlineCheck;
  /** Counts what is kept meanwhile; absent where gas is the only bound. */
  readonly memory?: MemoryBudget;
}

/**
 * For work that others wait for: it is done at once or given up. What gas bounds loosely, or not at all, is then bounded
 * by looks at the clock, one before each read of the state and some thousands of gas apart at most.
 */
export interface DeadlineCheck {
  /** Throws OutOfTime once the time is up. */
  check(): void;
  /** Throws OutOfTime: nobody knows beforehand how long the next step takes. */
  abort(): never;
}

/** Work was stopped in the middle because its time was up. */
export class OutOfTime extends Error {
  override name = "OutOfTime";
}

/** Read at every look at the clock, so that whoever set the pace can change them while the work goes on. */
export interface YieldSettings {
  /** Wall-clock time at which the work must end. */
  readonly deadlineMs?: number;
  /** Aborted once nobody waits for the work any more. */
  readonly signal?: StopSignal;
}

/** Tells work under way whether anybody still waits for it. */
export type StopSignal = Pick<AbortSignal, "aborted">;

/** For work that is done to its end. */
export const NEVER_STOPPED: StopSignal = { aborted: false };

/**
 * Rests every SLICE_MS milliseconds; less often where others have so much to do that they would take most of the thread.
 */
export function createYieldPolicy(clock: Pick<Clock, "nowMs">, settings: YieldSettings = {}): YieldPolicy {
  const deadlineMs = (): number => settings.deadlineMs ?? Number.POSITIVE_INFINITY;
  let restAtMs = clock.nowMs() + SLICE_MS;
  return {
    isDue: () => {
      const nowMs = clock.nowMs();
      return nowMs >= restAtMs || nowMs >= deadlineMs();
    },
    async yield() {
      const begunMs = clock.nowMs();
      if (begunMs >= deadlineMs()) throw new OutOfTime("the time for this work is up");
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (settings.signal?.aborted === true) throw new OutOfTime("nobody waits for this work any more");
      const nowMs = clock.nowMs();
      restAtMs = nowMs + Math.min(Math.max(SLICE_MS, 2 * (nowMs - begunMs)), LONGEST_SLICE_MS);
    },
  };
}

/** Lets others have their turn when it is time for it. */
export async function yieldIfDue(yieldPolicy: YieldPolicy): Promise<void> {
  if (yieldPolicy.isDue()) await yieldPolicy.yield();
}

/** Does long work to its end and lets others have their turn between its steps. Throws OutOfTime when the pace says so. */
export async function inSteps<T>(steps: Steps<T>, yieldPolicy: YieldPolicy): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (yieldPolicy.isDue()) await yieldPolicy.yield();
  }
}

const SLICE_MS = 10;
/** What a caller may have to wait for, and each message on its way to a block. */
const LONGEST_SLICE_MS = 200;

/** For work that ends before `endMs` on this clock, or throws OutOfTime. */
export function deadlineOnly(
  nowMs: () => number,
  endMs: number,
): YieldPolicy & { readonly deadline: DeadlineCheck } {
  const isDue = (): boolean => nowMs() >= endMs;
  const abort = (): never => {
    throw new OutOfTime("this work takes too long to be done at once");
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

/** For threads that have nothing else to do. */
export const NEVER_YIELD: YieldPolicy = {
  isDue: () => false,
  yield: () => Promise.resolve(),
};

/**
 * For work on one overlay on such a thread, which is ended from outside: a call, a block, or calls that are traced one on
 * another, together. Throws MemoryExhausted.
 */
export function memoryBounded(
  limitBytes = CALL_MEMORY_BYTES,
): YieldPolicy & { readonly memory: MemoryBudget } {
  return { ...NEVER_YIELD, memory: new MemoryBudget(limitBytes) };
}

const CALL_MEMORY_BYTES = 256 * 1024 * 1024;
