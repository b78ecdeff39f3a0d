import type { RpcSettings } from "../rpc/ports.ts";
import type { TxPool } from "../txpool/txPool.ts";
import { DEV_WALLET } from "./devNetwork.ts";
import type { Settings } from "./settings.ts";

/** Settings that shape answers. The price floors may change later: threads read them in shared memory. */
export function answerSettings(
  { clientVersion, networkId, rpc, explorer, development }: Settings,
  { blockFloors }: Pick<TxPool, "blockFloors">,
): RpcSettings {
  const { maxLogsRange, maxTraceFilterRange, gasPrice, poolMaxSize } = rpc;
  return {
    clientVersion,
    networkId,
    coinSymbol: explorer?.coinSymbol ?? "ETH",
    maxLogsRange,
    maxTraceFilterRange,
    gasPrice: { ...gasPrice, ...blockFloors },
    poolMaxSize,
    accounts: development === undefined ? [] : DEV_WALLET,
  };
}
