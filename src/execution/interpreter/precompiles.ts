import { LONG_BYTES } from "../../evm/layout.ts";
import { assert } from "../../primitives/assert.ts";
import { EMPTY_BYTES } from "../../primitives/hex.ts";
import type { PrecompiledContract, PrecompileResult } from "../precompiles/contract.ts";
import { precompiledContract } from "../precompiles/precompiledContracts.ts";
import { finish } from "./ends.ts";
import type { Frame } from "./frame.ts";
import { type Run, spaceOf, type Work } from "./run.ts";
import { copyInSlices } from "./slices.ts";

/** Runs a precompiled contract, which may wait for its curve to be loaded, or work in slices. */
export function runPrecompile(run: Run, frame: Frame, number: number): void {
  abortIfUnpredictable(run, frame, number);
  const contract = precompiledContract(number, run.rules.fork);
  assert(contract !== undefined, "a precompiled contract of the fork");
  const preparing = contract.prepare();
  if (preparing === undefined) start(run, frame, contract);
  else
    run.waiting = preparing.then(() => {
      start(run, frame, contract);
    });
}

function start(run: Run, frame: Frame, contract: PrecompiledContract): void {
  const { machine, budget } = run;
  const { input, inputSize } = frame;
  const work = contract.run({
    data: inputSize === 0 ? EMPTY_BYTES : machine.bytes.subarray(input, input + inputSize),
    gasLimit: machine.gas(frame.at),
    memoryBudget: budget,
  });
  if (!("next" in work)) settle(run, frame, work);
  else
    run.work = (function* (): Work {
      settle(run, frame, yield* work);
    })();
}

function settle(run: Run, frame: Frame, { gasUsed, output, failure }: PrecompileResult): void {
  const { machine } = run;
  machine.setGas(frame.at, machine.gas(frame.at) - gasUsed);
  if (failure !== undefined) {
    finish(run, frame, failure === "outOfGas" ? "INSUFFICIENT_GAS" : "PRECOMPILE_ERROR");
    return;
  }
  const at = spaceOf(frame);
  const size = output.length;
  run.reserve(at + size);
  const end = (): void => finish(run, frame, "succeeded", { at, size });
  if (size <= LONG_BYTES) {
    machine.bytes.set(output, at);
    end();
    return;
  }
  run.work = (function* (): Work {
    yield* copyInSlices(run, at, output, size);
    end();
  })();
}

/**
 * Aborts inline execution before a slow precompiled contract: gas is priced for native code, and some have to be
 * loaded first.
 */
function abortIfUnpredictable(
  { yieldPolicy: { deadline } }: Run,
  { inputSize }: Frame,
  number: number,
): void {
  if (deadline === undefined) return;
  if (number > LAST_SIMPLE_PRECOMPILE || inputSize > INLINE_INPUT_BYTES) deadline.abort();
}

/** ECRECOVER, SHA256, RIPEMD160 and identity. */
const LAST_SIMPLE_PRECOMPILE = 4;
const INLINE_INPUT_BYTES = 4096;
