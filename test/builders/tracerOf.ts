import type { ChainReader } from "../../src/chain/chainReader.ts";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { runTrace } from "../../src/tracers/runTrace.ts";
import type { Tracer } from "../../src/tracers/traceJob.ts";

/** The traces that a worker makes, on this thread. */
export function tracerOf(chain: ChainReader, spec: ChainSpec): Tracer {
  return {
    run: (job) =>
      runTrace(job, {
        spec,
        gasCap: 0n,
        limitBytes: 256 * 1024 * 1024,
        nowNs: () => 0n,
        stateAt: (number) => chain.stateAt(number),
        hashOf: (number) => chain.headerByNumber(number)?.hash,
        block: (number) => chain.blockByNumber(number),
      }),
  };
}
