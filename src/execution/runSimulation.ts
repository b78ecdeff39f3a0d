import { assertNever } from "../primitives/assert.ts";
import { createAccessList } from "./accessList.ts";
import { call } from "./call.ts";
import { estimateGas } from "./estimateGas.ts";
import { MemoryExhausted } from "./memoryBudget.ts";
import { overridden } from "./overrides.ts";
import type { CallContext } from "./simulate.ts";
import type { SimulationJob, SimulationResult } from "./simulation.ts";

/** Performs a job on its scene, the state after the block that it names. */
export async function runSimulation(job: SimulationJob, found: CallContext): Promise<SimulationResult> {
  const wanted = overridden(found, job.overrides ?? {});
  if (!wanted.ok) {
    const { code, message } = wanted.error;
    return { kind: "refused", code, detail: message };
  }
  try {
    const result = await perform(job, wanted.value);
    return "data" in result && result.data.length > OUTPUT_LIMIT_BYTES ? { kind: "tooLarge" } : result;
  } catch (error) {
    if (error instanceof MemoryExhausted) return { kind: "tooLarge" };
    throw error;
  }
}

/** More would keep the thread of the chain, which has to write it as text, from its other work. */
const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;

function perform(job: SimulationJob, context: CallContext): Promise<SimulationResult> {
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
