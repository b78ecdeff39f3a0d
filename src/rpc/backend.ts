import type { Core } from "./core/core.ts";
import { createFeeHistoryReader } from "./fees/feeHistory.ts";
import { createGasPriceOracle } from "./fees/gasPriceOracle.ts";
import { InclusionWaits } from "./inclusionWaits.ts";
import type { LocalPorts, RpcBackend } from "./ports.ts";

/** Joins what a thread has itself and the main thread's core, with what the methods share: prices, fee history, waits for blocks. */
export function createRpcBackend(local: LocalPorts, { serving: _, ...core }: Core): RpcBackend {
  return {
    ...local,
    ...core,
    gasPrices: createGasPriceOracle(local.settings.gasPrice, local),
    feeHistory: createFeeHistoryReader(local),
    inclusionWaits: new InclusionWaits(local),
  };
}
