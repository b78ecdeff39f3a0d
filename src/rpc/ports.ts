import type { AccountIndexReader } from "../accounts/indexReader.ts";
import type { BlockArrivals } from "../chain/blockArrivals.ts";
import type { ChainReader } from "../chain/chain.ts";
import type { ChainRewinder } from "../chain/rewindAndReplay.ts";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import type { ConsensusStatus } from "../consensus/monitor/status.ts";
import type { Simulator } from "../execution/simulation/callRequest.ts";
import type { StateQueryRunner } from "../execution/simulation/stateQuery.ts";
import type { FindLogs } from "../logs/findLogs.ts";
import type { LogIndex } from "../logs/logIndex.ts";
import type { LogLevel, LogModule } from "../observability/levels.ts";
import type { MetricFamily } from "../observability/registry.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Endpoint } from "../primitives/endpoint.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Result } from "../primitives/result.ts";
import type { AccountProof } from "../state/proof.ts";
import type { SyncStatus } from "../sync/syncProgress.ts";
import type { Tracer } from "../tracers/traceJob.ts";
import type { SubmissionErrorCode } from "../txpool/errors.ts";
import type { TxPool } from "../txpool/txPool.ts";
import type { NamedBlock } from "../types/block.ts";
import type { ValidatorVote } from "../types/extraData.ts";
import type { FeeHistoryReader } from "./fees/feeHistory.ts";
import type { GasPriceOracle, GasPriceSettings } from "./fees/gasPriceOracle.ts";
import type { Filters } from "./filters/filters.ts";
import type { InclusionWaits } from "./inclusionWaits.ts";
import type { NodeFacts } from "./nodeFacts.ts";

/** What the methods need from the node, which passes it in when it assembles the parts. */
export interface RpcPorts {
  readonly chain: ChainReader;
  readonly pool: RpcPool;
  readonly spec: ChainSpec;
  readonly simulator: Simulator;
  readonly stateQueries: StateQueryRunner;
  readonly tracer: Tracer;
  /** Writes a trace file of that name and returns its path; undefined when there is no room for it, or the host has its share. */
  writeTrace(name: string, pieces: readonly Uint8Array[], remoteHost: string): Promise<string | undefined>;
  /** Searches logs without blocking this thread. */
  readonly findLogs: FindLogs;
  readonly logIndex: RpcLogIndex;
  /** The index by address; undefined when it is off. */
  readonly accounts: Pick<AccountIndexReader, "read" | "bytes" | "maxBytes"> | undefined;
  readonly clock: Clock;
  readonly settings: RpcSettings;
  readonly network: NetworkFacts;
  readonly permissions: RpcPermissions;
  readonly consensus: RpcConsensus;
  /** Decodes a raw transaction, recovers its sender, and adds it to the pool as a local one. */
  submit(raw: Uint8Array, remoteHost: string): Promise<Result<Hash, SubmissionErrorCode>>;
  /** Merkle proofs against the state after block `number`; undefined when that state is not stored. */
  prove(number: bigint, address: Address, slots: readonly Uint8Array[]): AccountProof | undefined;
  /** Base fee of the block after the head, wei; undefined before London. */
  nextBaseFeePerGas(): bigint | undefined;
  /** True on a validator that is neither paused nor catching up. */
  isMining(): boolean;
  /**
   * Free bytes at which blocks are made again, while none are because the disk is almost full; otherwise undefined, also
   * while it syncs or was stopped by miner_stop.
   */
  diskPauseEndsAtBytes(): number | undefined;
  /** Undefined when the node is not syncing. */
  syncStatus(): SyncStatus | undefined;
  /** False until it is known, after a start or a time without peers, whether peers have more blocks. */
  isComparedWithPeers(): boolean;
  /** Calls `listener` whenever the sync status is set, changed or cleared. */
  onSyncChanged(listener: (status: SyncStatus | undefined) => void): () => void;
  /** Blocks and proposals rejected as invalid since the start, oldest first. */
  badBlocks(): readonly NamedBlock[];
  /** The machine and the peers, as operators see them. */
  nodeFacts(): Promise<NodeFacts>;
  /** When this node had its newest blocks. */
  readonly arrivals: Pick<BlockArrivals, "at">;
  /** The current value of every metric; undefined when metrics are disabled. */
  collectMetrics(): Promise<readonly MetricFamily[]> | undefined;
  readonly mining: RpcMining;
  readonly history: ChainRewinder;
  /** Changes the level from now on, for the given modules or for all. */
  changeLogLevel(level: LogLevel, modules?: readonly LogModule[]): void;
}

/** The log index, as the ADMIN methods use it. */
export type RpcLogIndex = Pick<LogIndex, "status" | "generate" | "remove" | "repair">;

/** The ports, with what is derived from them once for all methods; see createRpcBackend. */
export interface RpcBackend extends RpcPorts {
  readonly gasPrices: GasPriceOracle;
  readonly feeHistory: FeeHistoryReader;
  readonly filters: Filters;
  readonly inclusionWaits: InclusionWaits;
}

/** The pool as the methods read it. Transactions are added through `submit`. */
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

/** What an operator may change at run time about the blocks that this node builds; a restart resets all of it. */
export interface RpcMining {
  /** Lifts the stop, so that the node proposes and votes again unless something else prevents it. */
  start(): void;
  /** Stops proposing and voting until started again. */
  stop(): void;
  /** Vanity of the blocks that this node builds, 32 bytes. */
  extraData: Uint8Array;
  /** Gas limit that this node's blocks approach step by step. */
  targetGasLimit: bigint | undefined;
  /** --miner-coinbase, or else the address of the node key, whether or not it is a validator, until setCoinbase. */
  readonly coinbase: Address;
  /** Changes what eth_coinbase shows, not who is paid. */
  setCoinbase(address: Address): void;
}

/** Consensus as the IBFT methods use it. */
interface RpcConsensus {
  readonly proposals: RpcVoteProposals;
  status(): ConsensusStatus;
}

/** The votes on the validator set that the operator asked for. */
interface RpcVoteProposals {
  /** Returns false when there is no room for another vote. */
  propose(vote: ValidatorVote, force?: "forced"): boolean;
  discard(recipient: Address): void;
  pending(): readonly ValidatorVote[];
}

/** The allowlists as the PERM methods use them; a list is undefined while it is not enabled. */
export interface RpcPermissions {
  readonly accounts: RpcAllowlist | undefined;
  readonly nodes: RpcAllowlist | undefined;
  /** Reloads both from their files, or leaves both unchanged. */
  reload(): Result<void>;
}

export interface RpcAllowlist {
  readonly items: readonly string[];
  add(texts: readonly string[]): Result<void, AllowlistErrorCode>;
  remove(texts: readonly string[]): Result<void, AllowlistErrorCode>;
}

/** Why a list was not changed, or was changed only in memory. */
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
  /** Result of web3_clientVersion. */
  readonly clientVersion: string;
  /** Result of net_version: --network-id, or the chain id. */
  readonly networkId: bigint;
  /** --rpc-max-logs-range: largest difference between the ends of an eth_getLogs query; 0 for no limit. */
  readonly maxLogsRange: bigint;
  /** --rpc-max-trace-filter-range: the same for a trace_filter query. */
  readonly maxTraceFilterRange: bigint;
  readonly gasPrice: GasPriceSettings;
  /** maxSize in txpool_nodeStatistics; -1 unless the operator set a size. */
  readonly poolMaxSize: number;
}

/** Facts for the NET methods, the peer methods and eth_protocolVersion. */
export interface NetworkFacts {
  /** Undefined when peer-to-peer networking is disabled. */
  readonly peerToPeer: PeerToPeerFacts | undefined;
  /** Highest version of the eth protocol that the program speaks, also when peer-to-peer networking is disabled. */
  readonly ethVersion: number;
  /** The running services that net_services shows besides p2p. */
  services(): ServiceEndpoints;
}

export interface PeerToPeerFacts {
  readonly isListening: boolean;
  readonly peerCount: number;
  /** Undefined until the network has started. */
  readonly enode: string | undefined;
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  /**
   * The address announced to peers. The port is undefined when the node does not listen, that of discovery when discovery
   * is off.
   */
  readonly advertised: {
    readonly host: string;
    readonly port: number | undefined;
    readonly discoveryPort?: number | undefined;
  };
  /** Peers that have completed their handshakes. */
  readonly peers: readonly PeerFacts[];
  /** Makes the node a maintained peer; false when it was one already, or is this node. */
  addPeer(enode: string): Promise<Result<boolean, EnodeErrorCode>>;
  /** Disconnects from the node and stops maintaining it; false when it was not a maintained peer. */
  removePeer(enode: string): Promise<Result<boolean, EnodeErrorCode>>;
}

export type EnodeErrorCode = "invalidNodeId" | "namedHost" | "unknownHost" | "malformed";

export interface PeerFacts {
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  readonly enode: string;
  readonly clientId: string;
  readonly p2pVersion: number;
  /** Capabilities from its Hello, such as eth/68. */
  readonly capabilities: readonly string[];
  readonly listenPort: number;
  readonly local: Endpoint | undefined;
  readonly remote: Endpoint;
  /** Its best known block; undefined when it does not speak eth. */
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
