import type { ExecResult, PrecompileFunc, PrecompileInput } from "@ethereumjs/evm";
import type { MemoryBudget } from "../memoryBudget.ts";
import { NEVER_YIELD, type YieldPolicy } from "../yieldPolicy.ts";

/** What a precompiled contract of ours gets: its input may be a view of the caller's memory, which stays as it is. */
export interface PrecompileCall {
  readonly data: Uint8Array;
  readonly gasLimit: bigint;
  /** Counts what is kept meanwhile; absent where gas is the only bound. */
  readonly held: MemoryBudget | undefined;
}

/**
 * A precompiled contract that can be interrupted: it yields after each part of its work, which takes some milliseconds
 * at most. Between two parts another job may use the same WebAssembly memory.
 */
export type SlicedPrecompile = (call: PrecompileCall) => Generator<undefined, ExecResult>;

/** As the library's machine runs it: at once when it ends within the pace's slice, else with a rest where one is due. */
export function paced(contract: SlicedPrecompile): PrecompileFunc {
  return (input) => {
    const yieldPolicy = paceOf(input);
    const { data, gasLimit } = input;
    return runToEnd(contract({ data, gasLimit, held: yieldPolicy.memory }), yieldPolicy);
  };
}

/** Ours has a pace; the library's own, which tests run, has none. */
export function paceOf({ _EVM: machine }: PrecompileInput): YieldPolicy {
  return (machine as { readonly yieldPolicy?: YieldPolicy }).yieldPolicy ?? NEVER_YIELD;
}

/** What comes of the work; at once when it ends before the pace is due, else with rests. Throws OutOfTime as they do. */
export function runToEnd<T>(work: Generator<undefined, T>, yieldPolicy: YieldPolicy): T | Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (yieldPolicy.isDue()) return afterRest(work, yieldPolicy);
  }
}

async function afterRest<T>(work: Generator<undefined, T>, yieldPolicy: YieldPolicy): Promise<T> {
  for (;;) {
    if (yieldPolicy.isDue()) await yieldPolicy.yield();
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
