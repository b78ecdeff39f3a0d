import type { ExecResult, PrecompileFunc, PrecompileInput } from "@ethereumjs/evm";
import type { HeldMemory } from "../heldMemory.ts";
import { type Pace, TIRELESS } from "../pace.ts";

/** What a precompiled contract of ours gets: its input may be a view of the caller's memory, which stays as it is. */
export interface PrecompileCall {
  readonly data: Uint8Array;
  readonly gasLimit: bigint;
  /** Counts what is kept meanwhile; absent where gas is the only bound. */
  readonly held: HeldMemory | undefined;
}

/**
 * A precompiled contract that can be interrupted: it yields after each part of its work, which takes some milliseconds
 * at most. Between two parts another job may use the same WebAssembly memory.
 */
export type SlicedPrecompile = (call: PrecompileCall) => Generator<undefined, ExecResult>;

/** As the library's machine runs it: at once when it ends within the pace's slice, else with a rest where one is due. */
export function paced(contract: SlicedPrecompile): PrecompileFunc {
  return (input) => {
    const pace = paceOf(input);
    const { data, gasLimit } = input;
    return runToEnd(contract({ data, gasLimit, held: pace.held }), pace);
  };
}

/** Ours has a pace; the library's own, which tests run, has none. */
export function paceOf({ _EVM: machine }: PrecompileInput): Pace {
  return (machine as { readonly pace?: Pace }).pace ?? TIRELESS;
}

/** What comes of the work; at once when it ends before the pace is due, else with rests. Throws OutOfTime as they do. */
export function runToEnd<T>(work: Generator<undefined, T>, pace: Pace): T | Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (pace.isDue()) return afterRest(work, pace);
  }
}

async function afterRest<T>(work: Generator<undefined, T>, pace: Pace): Promise<T> {
  for (;;) {
    if (pace.isDue()) await pace.rest();
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
