import { inspect } from "../../src/calls/inspect.ts";
import type { ChainReader } from "../../src/chain/chain.ts";
import type { InspectionJob, InspectionResult } from "../../src/execution/inspection.ts";
import { runSimulation } from "../../src/execution/runSimulation.ts";
import { present } from "../../src/primitives/assert.ts";
import type { RpcPorts } from "../../src/rpc/ports.ts";
import { createStateHistory } from "../../src/state/history.ts";
import type { TestChain } from "./aChain.ts";

/** What worker threads do for JSON-RPC methods, on this thread. */
export function hereWorkers({
  chain,
  spec,
  database,
}: Pick<TestChain, "spec" | "database"> & { readonly chain: ChainReader }): Pick<
  RpcPorts,
  "simulator" | "inspector"
> {
  const stored = { spec, database, history: createStateHistory(database) };
  return {
    simulator: {
      run(job) {
        const { header } = present(chain.headerByNumber(job.blockNumber), "the header");
        const state = present(chain.stateAt(job.blockNumber), "the state");
        const ancestorHash = (number: bigint) => chain.headerByNumber(number)?.hash;
        return runSimulation(job, { spec, header, state, ancestorHash, gasCap: 0n });
      },
    },
    inspector: {
      inspect: async <Job extends InspectionJob>(job: Job) =>
        (await inspect(stored, job)) as InspectionResult<Job>,
    },
  };
}
