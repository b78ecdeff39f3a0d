import type { AccountIndexReader } from "../accounts/indexReader.ts";
import { baseFeeAfter } from "../chain/nextBlockView.ts";
import type { ChainView } from "../chain/view/chainView.ts";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { createLogFinder } from "../logs/findLogs.ts";
import { packCriteria } from "../logs/packedCriteria.ts";
import { systemClock } from "../primitives/clock.ts";
import type { JobCalls } from "./core/core.ts";
import type { NewestHead } from "./onNewestHead.ts";
import type { LocalPorts, RpcSettings } from "./ports.ts";
import { openSharedFloors } from "./threads/sharedFloors.ts";

interface LocalPortsParts {
  readonly view: ChainView;
  readonly newest: NewestHead;
  readonly accounts: AccountIndexReader | undefined;
  /** Gives calls a slice on this thread. */
  readonly simulator: LocalPorts["simulator"];
  /** Run what is long on threads of the main thread's. */
  readonly jobs: JobCalls;
}

/**
 * What a thread for callers answers from its view of the chain. Calls have a slice here, and then are jobs; so are searches of many
 * blocks. `floors` is the memory of the price floors, in the place of those in the settings.
 */
export function createLocalPorts(
  {
    spec,
    settings,
    floors: memory,
  }: { readonly spec: ChainSpec; readonly settings: RpcSettings; readonly floors: SharedArrayBuffer },
  { view, newest, accounts, simulator, jobs }: LocalPortsParts,
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
    simulator,
    stateQueries: { query: jobs.query },
    tracer: { run: jobs.trace },
    findLogs: createLogFinder(view, view, (criteria, range, requester) =>
      jobs.findLogs(packCriteria(criteria), range, requester),
    ),
  };
}
