import { baseFeeAfter } from "../../chain/nextBlockView.ts";
import type { ChainView } from "../../chain/view/chainView.ts";
import { createLogFinder } from "../../logs/findLogs.ts";
import { systemClock } from "../../primitives/clock.ts";
import { createFeeHistoryReader } from "../../rpc/fees/feeHistory.ts";
import { createGasPriceOracle } from "../../rpc/fees/gasPriceOracle.ts";
import { InclusionWaits } from "../../rpc/inclusionWaits.ts";
import type { RpcBackend } from "../../rpc/ports.ts";
import type { LastingWork } from "../../rpc/threads/callerSide/lastingWork.ts";
import { openSharedFloors } from "../../rpc/threads/sharedFloors.ts";
import type { RpcThreadData } from "./threadData.ts";

/** What a thread answers from its view of the chain: blocks, proofs, suggested prices, and logs; `lasting` searches many blocks. */
export function localPorts(
  { spec, settings, floors: memory }: Pick<RpcThreadData, "spec" | "settings" | "floors">,
  view: ChainView,
  lasting: Pick<LastingWork, "findLogs">,
): Pick<
  RpcBackend,
  | "chain"
  | "spec"
  | "clock"
  | "settings"
  | "prove"
  | "gasPrices"
  | "feeHistory"
  | "findLogs"
  | "inclusionWaits"
> {
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
  const fees = {
    chain: view,
    spec,
    nextBaseFeePerGas: () => baseFeeAfter(view.head.header, spec, systemClock.nowMs()),
  };
  return {
    chain: view,
    spec,
    clock: systemClock,
    settings: { ...settings, gasPrice },
    prove: (...at) => view.prove(...at),
    gasPrices: createGasPriceOracle(gasPrice, fees),
    feeHistory: createFeeHistoryReader(fees),
    inclusionWaits: new InclusionWaits({ chain: view, clock: systemClock }),
    findLogs: createLogFinder(view, view, lasting.findLogs),
  };
}
