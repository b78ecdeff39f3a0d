import { createFeeHistoryReader } from "./fees/feeHistory.ts";
import { createGasPriceOracle } from "./fees/gasPriceOracle.ts";
import { createFilters } from "./filters/filters.ts";
import type { RpcBackend, RpcPorts } from "./ports.ts";

/** Extends the node's ports with what the methods share: the price oracle, the fee history and the installed filters. */
export function createRpcBackend(ports: RpcPorts): RpcBackend {
  return {
    ...ports,
    gasPrices: createGasPriceOracle(ports.settings.gasPrice, ports),
    feeHistory: createFeeHistoryReader(ports),
    filters: createFilters(ports),
  };
}
