import type { AccountIndexReader } from "../accounts/indexReader.ts";
import type { ChainReader } from "../chain/chainReader.ts";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import type { WalletAccount } from "../dev/wallet.ts";
import type { Simulator } from "../execution/simulation/callRequest.ts";
import type { StateQueryRunner } from "../execution/simulation/stateQuery.ts";
import type { FindLogs } from "../logs/findLogs.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import type { AccountProof } from "../state/proof.ts";
import type { Tracer } from "../tracers/traceJob.ts";
import type { Core } from "./core/core.ts";
import type { FeeHistoryReader } from "./fees/feeHistory.ts";
import type { GasPriceOracle, GasPriceSettings } from "./fees/gasPriceOracle.ts";
import type { InclusionWaits } from "./inclusionWaits.ts";

/** What methods use: the chain and what is derived from it, which each thread has itself, and the main thread's core. */
export interface RpcBackend extends LocalPorts, Omit<Core, "serving"> {
  readonly gasPrices: GasPriceOracle;
  readonly feeHistory: FeeHistoryReader;
  readonly inclusionWaits: InclusionWaits;
}

/** What a thread for callers has itself. */
export interface LocalPorts {
  readonly chain: ChainReader;
  /** Resolves when `chain` has reached the head that the process shows. A method that goes on after an answer of the core calls it again. */
  newestHead(): Promise<void>;
  readonly spec: ChainSpec;
  readonly clock: Clock;
  readonly settings: RpcSettings;
  /** The index by address; undefined when it is off. */
  readonly accounts: Pick<AccountIndexReader, "read" | "bytes" | "maxBytes"> | undefined;
  /** These run what is short here, and what is long as a job of the core. */
  readonly simulator: Simulator;
  readonly stateQueries: StateQueryRunner;
  readonly tracer: Tracer;
  readonly findLogs: FindLogs;
  /** Merkle proofs against the state after block `number`; undefined when that state is not stored. */
  prove(number: bigint, address: Address, slots: readonly Uint8Array[]): AccountProof | undefined;
  /** Base fee of the block after the head, wei; undefined before London. */
  nextBaseFeePerGas(): bigint | undefined;
}

/** Settings that shape answers. */
export interface RpcSettings {
  /** Result of web3_clientVersion. */
  readonly clientVersion: string;
  /** Result of net_version: --network-id, or the chain id. */
  readonly networkId: bigint;
  /** --explorer-coin-symbol. */
  readonly coinSymbol: string;
  /** --rpc-max-logs-range: largest difference between the ends of an eth_getLogs query; 0 for no limit. */
  readonly maxLogsRange: bigint;
  /** --rpc-max-trace-filter-range: the same for a trace_filter query. */
  readonly maxTraceFilterRange: bigint;
  readonly gasPrice: GasPriceSettings;
  /** Those of a development network; none elsewhere. */
  readonly accounts: readonly WalletAccount[];
  /** maxSize in txpool_nodeStatistics; -1 unless the operator set a size. */
  readonly poolMaxSize: number;
}
