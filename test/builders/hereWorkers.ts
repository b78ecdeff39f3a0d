import { queryState } from "../../src/calls/queryState.ts";
import type { ChainReader } from "../../src/chain/chainReader.ts";
import { runSimulation } from "../../src/execution/simulation/runSimulation.ts";
import type { StateQuery, StateQueryResult } from "../../src/execution/simulation/stateQuery.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import type { LocalPorts } from "../../src/rpc/ports.ts";
import { StateHistory } from "../../src/state/stateHistory.ts";
import type { TestChain } from "./aChain.ts";

/** What worker threads do for JSON-RPC methods, on this thread. */
export function hereWorkers({
  chain,
  spec,
  database,
}: Pick<TestChain, "spec" | "database"> & { readonly chain: ChainReader }): Pick<
  LocalPorts,
  "simulator" | "stateQueries"
> {
  const stored = { spec, database, history: new StateHistory(database) };
  return {
    simulator: {
      async run(job) {
        const { header } = expectDefined(chain.headerByNumber(job.blockNumber), "the header");
        const state = expectDefined(chain.stateAt(job.blockNumber), "the state");
        const ancestorHash = (number: bigint) => chain.headerByNumber(number)?.hash;
        return runSimulation(job, { spec, header, state, ancestorHash, gasCap: 0n });
      },
    },
    stateQueries: {
      query: async <Job extends StateQuery>(job: Job) =>
        (await queryState(stored, job)) as StateQueryResult<Job>,
    },
  };
}
