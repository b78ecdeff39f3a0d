import type { BlockArrivals } from "../../chain/blockArrivals.ts";
import type { ChainReader } from "../../chain/chainReader.ts";
import type { ChainRewinder } from "../../chain/rewindAndReplay.ts";
import type { ConsensusStatus } from "../../consensus/monitor/status.ts";
import type { Development } from "../../dev/development.ts";
import type { PoolChanges } from "../../dev/poolChanges.ts";
import type { Wallet } from "../../dev/wallet.ts";
import type { SimulationJob, SimulationResult } from "../../execution/simulation/callRequest.ts";
import type { StateQuery, StateQueryResult } from "../../execution/simulation/stateQuery.ts";
import type { GiftAnswer, GiftRequest } from "../../faucet/gift.ts";
import type { FindLogs } from "../../logs/findLogs.ts";
import type { LogIndex } from "../../logs/logIndex.ts";
import type { LogLevel, LogModule } from "../../observability/levels.ts";
import type { MetricFamily } from "../../observability/registry.ts";
import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import type { Endpoint } from "../../primitives/endpoint.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Requester } from "../../primitives/requester.ts";
import type { Result } from "../../primitives/result.ts";
import type { SyncStatus } from "../../sync/syncProgress.ts";
import type { TraceJob, TraceResult } from "../../tracers/traceJob.ts";
import type { Submitted } from "../../txpool/submission.ts";
import type { TxPool } from "../../txpool/txPool.ts";
import type { NamedBlock } from "../../types/block.ts";
import type { ValidatorVote } from "../../types/extraData.ts";
import type { Unread } from "../../workers/sealed.ts";
import type { Login } from "../access/login.ts";
import type { NodeInfo } from "../nodeInfo.ts";
import type { GuardedServerName } from "../server/serverTable.ts";

/** What the main thread's core is made of; the node passes it in when it assembles the parts. */
export interface CoreParts {
  readonly chain: ChainReader;
  readonly pool: RpcPool;
  /** Reads a raw transaction, has its sender recovered, and adds it to the pool as a local one. */
  submit(raw: Uint8Array): Promise<Submitted>;
  /** Run what takes long, on threads that are terminated at their time limit. */
  readonly simulator: {
    run(job: Unread<SimulationJob>, requester: Requester): Promise<SimulationResult>;
  };
  readonly stateQueries: {
    query(job: Unread<StateQuery>, requester: Requester): Promise<StateQueryResult>;
  };
  readonly tracer: { run(job: Unread<TraceJob>, requester: Requester): Promise<TraceResult> };
  /** Writes a trace file of that name and returns its path; undefined when there is no room for it, or the host has its share. */
  writeTrace(name: string, pieces: readonly Uint8Array[], remoteHost: string): Promise<string | undefined>;
  readonly findLogs: FindLogs;
  readonly logIndex: RpcLogIndex;
  readonly clock: Pick<Clock, "nowMs">;
  readonly network: NetworkPorts;
  readonly permissions: RpcPermissions;
  readonly consensus: RpcConsensus;
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
  /** Blocks and proposals rejected as invalid since the start, oldest first. */
  badBlocks(): readonly NamedBlock[];
  nodeInfo(): Promise<NodeInfo>;
  /** When this node had its newest blocks. */
  readonly arrivals: Pick<BlockArrivals, "at">;
  /** The current value of every metric; undefined when metrics are disabled. */
  collectMetrics(): Promise<readonly MetricFamily[]> | undefined;
  readonly mining: RpcMining;
  readonly history: Pick<ChainRewinder, "setHead" | "replayBlock" | "resyncWorldState">;
  /** The accounts of the development network; absent anywhere else. */
  readonly wallet?:
    | Pick<Wallet, "send" | "sign" | "impersonate" | "stopImpersonating" | "impersonateAll">
    | undefined;
  /** Changes the level from now on, for the given modules or for all. */
  changeLogLevel(level: LogLevel, modules?: readonly LogModule[]): void;
  /** Check names and passwords, where a server has users. */
  readonly logins?: Readonly<Record<GuardedServerName, Login | undefined>> | undefined;
  /** Gives the network's coin away; absent where the faucet is off. */
  readonly give?: ((request: GiftRequest) => Promise<GiftAnswer>) | undefined;
  /** The comforts of the development network; absent anywhere else. */
  readonly development?: RpcDevelopment | undefined;
}

/** The comforts as the methods use them. */
type RpcDevelopment = Pick<
  Development,
  | "mine"
  | "increaseTime"
  | "setTime"
  | "setNextTimestamp"
  | "nextTimestamp"
  | "setTimestampInterval"
  | "setGasLimit"
  | "isAutomatic"
  | "intervalMs"
  | "instanceId"
  | "setAutomatic"
  | "setInterval"
  | "snapshot"
  | "revert"
  | "reorganise"
  | "reset"
  | "alter"
  | "load"
  | "sendAs"
> & { readonly pool: Pick<PoolChanges, "drop" | "dropOf" | "dropAll"> };

/** The log index, as the ADMIN methods use it. */
export type RpcLogIndex = Pick<LogIndex, "status" | "generate" | "remove" | "repair">;

/** The pool as its callers read it. Transactions enter it by the admission queue. */
export type RpcPool = Pick<
  TxPool,
  | "get"
  | "entries"
  | "nextNonce"
  | "statistics"
  | "whyWaiting"
  | "blockFloors"
  | "changeBlockFloors"
  | "onAdded"
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
  reload(): Result<unknown>;
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

/** Peers, and how this node is reached. */
export interface NetworkPorts {
  /** Undefined when peer-to-peer networking is disabled. */
  readonly peerToPeer: PeerToPeer | undefined;
  /** Highest version of the eth protocol that the program speaks, also when peer-to-peer networking is disabled. */
  readonly ethVersion: number;
  /** The running services besides peer-to-peer. */
  services(): ServiceEndpoints;
}

export interface PeerToPeer {
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
  readonly peers: readonly PeerInfo[];
  /** Makes the node a maintained peer; false when it was one already, or is this node. */
  addPeer(enode: string): Promise<Result<boolean, EnodeErrorCode>>;
  /** Disconnects from the node and stops maintaining it; false when it was not a maintained peer. */
  removePeer(enode: string): Promise<Result<boolean, EnodeErrorCode>>;
}

export type EnodeErrorCode = "invalidNodeId" | "namedHost" | "unknownHost" | "malformed";

export interface PeerInfo {
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
  /** Not in net_services, as in Besu. */
  readonly graphql?: Endpoint;
  readonly metrics?: Endpoint;
}
