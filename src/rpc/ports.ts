import type { ChainReader } from "../chain/chain.ts";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import type { Simulator } from "../execution/simulation.ts";
import type { StateQueryRunner } from "../execution/stateQuery.ts";
import type { FindLogs } from "../logs/findLogs.ts";
import type { LogIndex } from "../logs/logIndex.ts";
import type { LogLevel, LogModule } from "../observability/logger.ts";
import type { MetricFamily } from "../observability/registry.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Result } from "../primitives/result.ts";
import type { AccountProof } from "../state/proof.ts";
import type { Tracer } from "../tracers/traceJob.ts";
import type { PoolErrorCode } from "../txpool/errors.ts";
import type { TxPool } from "../txpool/txPool.ts";
import type { NamedBlock } from "../types/block.ts";
import type { ValidatorVote } from "../types/extraData.ts";
import type { TransactionErrorCode } from "../types/transaction.ts";
import type { RpcConsensusStatus } from "./consensusPort.ts";
import type { FeeHistoryReader } from "./fees/feeHistory.ts";
import type { GasPriceOracle, GasPriceSettings } from "./fees/gasPriceOracle.ts";
import type { Filters } from "./filters/filters.ts";

/** What the methods ask of the node; the node hands it over when it joins the parts. */
export interface RpcPorts {
  readonly chain: ChainReader;
  readonly pool: RpcPool;
  readonly spec: ChainSpec;
  readonly simulator: Simulator;
  readonly stateQueries: StateQueryRunner;
  readonly tracer: Tracer;
  /** Writes a trace file of that name and gives its path; undefined when there is no room for it. */
  writeTrace(name: string, lines: Uint8Array): Promise<string | undefined>;
  /** Finds logs without keeping this thread busy. */
  readonly findLogs: FindLogs;
  readonly logIndex: RpcLogIndex;
  readonly clock: Clock;
  readonly settings: RpcSettings;
  readonly network: NetworkFacts;
  readonly permissions: RpcPermissions;
  readonly consensus: RpcConsensus;
  /** Decodes a raw transaction, finds its sender, and offers it to the pool as a local one. */
  submit(raw: Uint8Array): Promise<Result<Hash, SubmissionErrorCode>>;
  /** Proofs against the state after block `number`; undefined when that state is not stored. */
  prove(number: bigint, address: Address, slots: readonly Uint8Array[]): AccountProof | undefined;
  /** Base fee of the block after the head, wei; undefined before London. */
  nextBaseFeePerGas(): bigint | undefined;
  /** True on a validator that is neither paused nor catching up. */
  isMining(): boolean;
  /** True while no blocks are made for want of room on the disk; what syncStatus and mining tell is no such want. */
  isHeld(): boolean;
  /** Undefined when no better chain is being fetched. */
  syncStatus(): SyncStatus | undefined;
  /** Calls `listener` whenever what is being fetched is set, moved or cleared. */
  onSyncChanged(listener: (status: SyncStatus | undefined) => void): () => void;
  /** Blocks and proposals that were refused since the start for a flaw of their own, oldest first. */
  badBlocks(): readonly NamedBlock[];
  /** All that is counted at present; undefined where nothing is. */
  collectMetrics(): Promise<readonly MetricFamily[]> | undefined;
  readonly mining: RpcMining;
  readonly history: RpcHistory;
  /** From now on, for the modules named or for all. */
  changeLogLevel(level: LogLevel, modules?: readonly LogModule[]): void;
}

/** The files that make old logs quick to find, as the ADMIN methods see them. */
export type RpcLogIndex = Pick<LogIndex, "status" | "generate" | "remove" | "repair">;

/** The ports with what is derived from them once for all methods; createRpcBackend makes it. */
export interface RpcBackend extends RpcPorts {
  readonly gasPrices: GasPriceOracle;
  readonly feeHistory: FeeHistoryReader;
  readonly filters: Filters;
}

/** The pool as the methods read it. What they have for it goes through `submit`. */
export type RpcPool = Pick<
  TxPool,
  | "get"
  | "entries"
  | "nextNonce"
  | "statistics"
  | "blockFloors"
  | "changeBlockFloors"
  | "onAdded"
  | "onDropped"
>;

export type SubmissionErrorCode = PoolErrorCode | TransactionErrorCode;

/** What an operator may change at run time about the blocks that this node makes; none of it survives a restart. */
export interface RpcMining {
  /** Proposes and votes again, as far as nothing else is in the way. */
  start(): void;
  /** Neither proposes nor votes until started again. */
  stop(): void;
  /** The free bytes of our blocks' extra data, 32 of them. */
  extraData: Uint8Array;
  /** The gas limit that our blocks move to, step by step. */
  targetGasLimit: bigint | undefined;
  /** --miner-coinbase, or the account of the node's own key, whether or not it is a validator, until set otherwise. */
  readonly coinbase: Address;
  /** Changes what is told, and nothing about who is paid. */
  setCoinbase(address: Address): void;
}

/** The operator's way back, along the chain that there is. */
export interface RpcHistory {
  /** `number` is at most the head's. */
  setHead(number: bigint): Promise<Result<void, HistoryErrorCode>>;
  /** `number` is at least 1, and at most the head's. */
  replayBlock(number: bigint): Promise<Result<void, HistoryErrorCode>>;
  resyncWorldState(): Promise<Result<void, HistoryErrorCode>>;
}

export type HistoryErrorCode = "busy" | "validating" | "onlyValidator" | "notReplayed";

/** Consensus as the IBFT methods see it. */
export interface RpcConsensus {
  readonly proposals: RpcVoteProposals;
  status(): RpcConsensusStatus;
}

/** What the operator wants of the validator set. */
export interface RpcVoteProposals {
  /** False when there is no room for one more. */
  propose(vote: ValidatorVote): boolean;
  discard(recipient: Address): void;
  pending(): readonly ValidatorVote[];
}

/** The operator's allowlists as the PERM methods see them; a list is undefined while it is not enabled. */
export interface RpcPermissions {
  readonly accounts: RpcAllowlist | undefined;
  readonly nodes: RpcAllowlist | undefined;
  /** Reads both anew from their files, or leaves both as they are. */
  reload(): Result<void>;
}

export interface RpcAllowlist {
  readonly items: readonly string[];
  add(texts: readonly string[]): Result<void, AllowlistErrorCode>;
  remove(texts: readonly string[]): Result<void, AllowlistErrorCode>;
}

/** Why a list was not changed, or not quite. */
export type AllowlistErrorCode =
  | "empty"
  | "invalid"
  | "duplicate"
  | "exists"
  | "fixed"
  | "absent"
  | "outOfSync"
  | "notPersisted";

/** Settings that shape answers. */
export interface RpcSettings {
  /** What web3_clientVersion says. */
  readonly clientVersion: string;
  /** What net_version says: --network-id, or the chain id. */
  readonly networkId: bigint;
  /** --rpc-max-logs-range: largest difference between the ends of an eth_getLogs query; 0 for no limit. */
  readonly maxLogsRange: bigint;
  /** --rpc-max-trace-filter-range: the same of a trace_filter query. */
  readonly maxTraceFilterRange: bigint;
  readonly gasPrice: GasPriceSettings;
  /** What txpool_nodeStatistics shows as maxSize; -1 unless the operator asked for a size. */
  readonly poolMaxSize: number;
}

/** What the NET methods and eth_protocolVersion tell. */
export interface NetworkFacts {
  /** Undefined when peer-to-peer networking is disabled. */
  readonly peerToPeer: PeerToPeerFacts | undefined;
  /** Highest version of the eth protocol that the program speaks, whether it talks to peers now or not. */
  readonly ethVersion: number;
  /** The services that are up, as net_services shows them beside the one for peers. */
  services(): ServiceEndpoints;
}

export interface PeerToPeerFacts {
  readonly isListening: boolean;
  readonly peerCount: number;
  /** Undefined until the network has started. */
  readonly enode: string | undefined;
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  /** Where others are told to call; the port is undefined when the node does not listen. */
  readonly advertised: { readonly host: string; readonly port: number | undefined };
  /** Those that are ready. */
  readonly peers: readonly PeerFacts[];
  /** Stays connected with the node from now on; false when it did so already, or it is this node. */
  addPeer(enode: string): Result<boolean, EnodeErrorCode>;
  /** Parts from the node; false when it was not one to stay connected with. */
  removePeer(enode: string): Result<boolean, EnodeErrorCode>;
}

export type EnodeErrorCode = "invalidNodeId" | "namedHost" | "malformed";

export interface PeerFacts {
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  readonly enode: string;
  readonly clientId: string;
  readonly p2pVersion: number;
  /** As it introduced itself: eth/68 and the like. */
  readonly capabilities: readonly string[];
  readonly listenPort: number;
  readonly local: Endpoint | undefined;
  readonly remote: Endpoint;
  /** Its best block as far as it told; undefined when it does not speak eth. */
  readonly eth: PeerHead | undefined;
}

export interface PeerHead {
  readonly totalDifficulty: bigint;
  readonly headHash: Hash;
  /** The version in its Status. */
  readonly version: number;
}

export interface ServiceEndpoints {
  readonly jsonrpc?: Endpoint;
  readonly ws?: Endpoint;
  readonly metrics?: Endpoint;
}

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Block numbers of a running synchronization. */
export interface SyncStatus {
  readonly startingBlock: bigint;
  readonly currentBlock: bigint;
  readonly highestBlock: bigint;
}
