import type { MemoryBudget } from "../memoryBudget.ts";

/** The input of a precompiled contract. `data` may be a view of the caller's memory, which does not change meanwhile. */
export interface PrecompileCall {
  readonly data: Uint8Array;
  readonly gasLimit: bigint;
  /** Counts the memory in use; undefined if gas is the only bound. */
  readonly memoryBudget: MemoryBudget | undefined;
}

/** A precompiled contract that fails uses all the gas it was given. */
export interface PrecompileResult {
  readonly gasUsed: bigint;
  /** Result of the contract; empty after a failure. */
  readonly output: Uint8Array;
  readonly failure?: PrecompileFailure;
}

type PrecompileFailure = "outOfGas" | "invalidInput";

/**
 * Long work: yields after each part, a few milliseconds. Before its first part too, and between two parts, another call may
 * run.
 */
export type SlicedWork<T = PrecompileResult> = Generator<undefined, T>;

/** Computes at once, or returns work to be run in parts. */
export type RunPrecompile = (call: PrecompileCall) => PrecompileResult | SlicedWork;

/** A precompiled contract under the rules of one fork. */
export interface PrecompiledContract {
  /** Loads what the contract needs; undefined if the contract can run at once. */
  readonly prepare: () => Promise<void> | undefined;
  /** Throws if the contract is not prepared. */
  readonly run: RunPrecompile;
}

/** A contract that can always run at once. */
export function always(run: RunPrecompile): PrecompiledContract {
  return { prepare: () => undefined, run };
}

export function succeeded(gasUsed: bigint, output: Uint8Array): PrecompileResult {
  return { gasUsed, output };
}

export function failed({ gasLimit }: PrecompileCall, failure: PrecompileFailure): PrecompileResult {
  return { gasUsed: gasLimit, output: EMPTY, failure };
}

const EMPTY = new Uint8Array(0);

/** The word 1 or 0. */
export function booleanWord(value: boolean): Uint8Array {
  const word = new Uint8Array(32);
  word[31] = value ? 1 : 0;
  return word;
}

/** The first `length` bytes of the data, with zeros after its end. */
export function padded(data: Uint8Array, length: number): Uint8Array {
  if (data.length >= length) return data.subarray(0, length);
  const whole = new Uint8Array(length);
  whole.set(data);
  return whole;
}
