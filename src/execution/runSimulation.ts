import { assertNever } from "../primitives/assert.ts";
import { createAccessList } from "./accessList.ts";
import { call } from "./call.ts";
import { estimateGas } from "./estimateGas.ts";
import { overridden } from "./overrides.ts";
import type { SimulationScene } from "./simulate.ts";
import type { SimulationJob, SimulationResult } from "./simulation.ts";

/** Performs a job on its scene, the state after the block that it names. */
export async function runSimulation(job: SimulationJob, found: SimulationScene): Promise<SimulationResult> {
  const wanted = overridden(found, job.overrides ?? {});
  if (!wanted.ok) {
    const { code, message } = wanted.rejection;
    return { kind: "refused", code, detail: message };
  }
  const scene = wanted.value;
  switch (job.kind) {
    case "call":
      return call(scene, job.call);
    case "estimateGas":
      return estimateGas(scene, job.call);
    case "createAccessList":
      return createAccessList(scene, job.call);
    default:
      return assertNever(job);
  }
}
