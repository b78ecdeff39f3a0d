import type { AccountIndexReader } from "../../accounts/indexReader.ts";
import { InlineCalls } from "../../calls/inline/inlineCalls.ts";
import { baseFeeAfter } from "../../chain/nextBlockView.ts";
import type { ChainView } from "../../chain/view/chainView.ts";
import { createLogFinder } from "../../logs/findLogs.ts";
import { packCriteria } from "../../logs/packedCriteria.ts";
import { systemClock } from "../../primitives/clock.ts";
import type { JobCalls } from "../../rpc/core/core.ts";
import type { NewestHead } from "../../rpc/onNewestHead.ts";
import type { LocalPorts } from "../../rpc/ports.ts";
import { openSharedFloors } from "../../rpc/threads/sharedFloors.ts";
import type { RpcThreadData } from "./threadData.ts";

/** What a thread answers from its view of the chain. Calls have a slice here, and then are jobs; so are searches of many blocks. */
export function localPorts(
  { spec, settings, gasCap, floors: memory }: RpcThreadData,
  {
    view,
    newest,
    jobs,
    accounts,
  }: {
    readonly view: ChainView;
    readonly newest: NewestHead;
    readonly jobs: JobCalls;
    readonly accounts: AccountIndexReader | undefined;
  },
): LocalPorts {
  const floors = openSharedFloors(memory);
  const gasPrice = {
    ...settings.gasPrice,
    get minGasPriceWei() {
      return floors.read().minGasPriceWei;
    },
    get minPriorityFeeWei() {
      return floors.read().minPriorityFeeWei;
    },
  };
  return {
    chain: view,
    newestHead: async () => newest.reach(),
    spec,
    clock: systemClock,
    settings: { ...settings, gasPrice },
    accounts,
    prove: (...at) => view.prove(...at),
    nextBaseFeePerGas: () => baseFeeAfter(view.head.header, spec, systemClock.nowMs()),
    simulator: new InlineCalls({
      spec,
      gasCap,
      chain: view,
      pool: { run: jobs.simulate },
      nowMs: () => performance.now(),
    }),
    stateQueries: { query: jobs.query },
    tracer: { run: jobs.trace },
    findLogs: createLogFinder(view, view, (criteria, range, requester) =>
      jobs.findLogs(packCriteria(criteria), range, requester),
    ),
  };
}
