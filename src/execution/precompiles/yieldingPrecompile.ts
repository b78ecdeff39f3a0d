import type { ExecResult, PrecompileFunc, PrecompileInput } from "@ethereumjs/evm";
import type { MemoryBudget } from "../memoryBudget.ts";
import { NEVER_YIELD, type YieldPolicy } from "../yieldPolicy.ts";

/**
 * The input of our precompiled contracts. `data` may be a view of the caller's memory, which does not change meanwhile.
 */
export interface PrecompileCall {
  readonly data: Uint8Array;
  readonly gasLimit: bigint;
  /** Counts the memory in use; undefined if gas is the only bound. */
  readonly memoryBudget: MemoryBudget | undefined;
}

/**
 * A precompiled contract that can be interrupted: it yields after each part of its work, a few milliseconds at most.
 * Between two parts another job may use the same WebAssembly memory.
 */
export type SlicedPrecompile = (call: PrecompileCall) => Generator<undefined, ExecResult>;

/** Adapts a contract to the library's interface: synchronous if it ends before a yield is due. */
export function yielding(contract: SlicedPrecompile): PrecompileFunc {
  return (input) => {
    const yieldPolicy = yieldPolicyOf(input);
    const { data, gasLimit } = input;
    return runToEnd(contract({ data, gasLimit, memoryBudget: yieldPolicy.memory }), yieldPolicy);
  };
}

/** The yield policy of the calling EVM; the library's own, which tests run, has none. */
export function yieldPolicyOf({ _EVM: evm }: PrecompileInput): YieldPolicy {
  return (evm as { readonly yieldPolicy?: YieldPolicy }).yieldPolicy ?? NEVER_YIELD;
}

/** Runs work to its end; synchronous if it ends before a yield is due. Throws OutOfTime as YieldPolicy does. */
export function runToEnd<T>(work: Generator<undefined, T>, yieldPolicy: YieldPolicy): T | Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (yieldPolicy.isDue()) return runYielding(work, yieldPolicy);
  }
}

async function runYielding<T>(work: Generator<undefined, T>, yieldPolicy: YieldPolicy): Promise<T> {
  for (;;) {
    if (yieldPolicy.isDue()) await yieldPolicy.yield();
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
