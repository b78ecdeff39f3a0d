import { assertNever } from "../../primitives/assert.ts";
import type { Eventual } from "../../primitives/eventual.ts";
import { MemoryExhausted } from "../memoryBudget.ts";
import { createAccessList } from "./accessList.ts";
import { call } from "./call.ts";
import type { SimulationJob, SimulationResult } from "./callRequest.ts";
import { estimateGas } from "./estimateGas.ts";
import { overridden } from "./overrides.ts";
import type { CallContext } from "./simulate.ts";

/** Runs a job in `context`, which is on the state after the job's block; synchronously unless it is time to yield. */
export function runSimulation(job: SimulationJob, context: CallContext): Eventual<SimulationResult> {
  const changed = overridden(context, job.overrides ?? {});
  if (!changed.ok) {
    const { code, message } = changed.error;
    return { kind: "refused", code, detail: message };
  }
  try {
    const result = perform(job, changed.value);
    return result instanceof Promise ? result.then(bounded, tooLargeOr) : bounded(result);
  } catch (error) {
    return tooLargeOr(error);
  }
}

function bounded(result: SimulationResult): SimulationResult {
  return "data" in result && result.data.length > OUTPUT_LIMIT_BYTES ? TOO_LARGE : result;
}

function tooLargeOr(error: unknown): SimulationResult {
  if (error instanceof MemoryExhausted) return TOO_LARGE;
  throw error;
}

const TOO_LARGE = { kind: "tooLarge" } as const;

/** Bounds the time that the main thread spends on encoding the output as text. */
const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;

function perform(job: SimulationJob, context: CallContext): Eventual<SimulationResult> {
  switch (job.kind) {
    case "call":
      return call(context, job.call);
    case "estimateGas":
      return estimateGas(context, job.call);
    case "createAccessList":
      return createAccessList(context, job.call);
    default:
      return assertNever(job);
  }
}
