import { createFeeHistoryReader } from "./fees/feeHistory.ts";
import { createGasPriceOracle } from "./fees/gasPriceOracle.ts";
import { Filters } from "./filters/filters.ts";
import { InclusionWaits } from "./inclusionWaits.ts";
import type { RpcBackend, RpcPorts } from "./ports.ts";

/**
 * Extends the node's ports with what the methods share: the price oracle, the fee history, the installed filters and the
 * waits for blocks.
 */
export function createRpcBackend(ports: RpcPorts): RpcBackend {
  return {
    ...ports,
    gasPrices: createGasPriceOracle(ports.settings.gasPrice, ports),
    feeHistory: createFeeHistoryReader(ports),
    filters: new Filters(ports),
    inclusionWaits: new InclusionWaits(ports),
  };
}
