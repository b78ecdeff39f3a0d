import type { Core } from "./core/core.ts";
import { FeeHistoryReader } from "./fees/feeHistory.ts";
import { GasPriceOracle } from "./fees/gasPriceOracle.ts";
import { InclusionWaits } from "./inclusionWaits.ts";
import type { LocalPorts, RpcBackend } from "./ports.ts";

/** Joins what a thread has itself and the main thread's core, with what the methods share: prices, fee history, waits for blocks. */
export function createRpcBackend(local: LocalPorts, { serving: _, ...core }: Core): RpcBackend {
  return {
    ...local,
    ...core,
    gasPrices: new GasPriceOracle(local.settings.gasPrice, local),
    feeHistory: new FeeHistoryReader(local),
    inclusionWaits: new InclusionWaits(local),
  };
}
