import type { BlockArrival } from "../../chain/blockArrivals.ts";
import type { RewindErrorCode } from "../../chain/rewindAndReplay.ts";
import type { ConsensusStatus } from "../../consensus/monitor/status.ts";
import type { Alteration } from "../../dev/alteration.ts";
import type { DevelopmentErrorCode, MineOrder, Reorganisation } from "../../dev/orders.ts";
import type { SignedTransaction } from "../../dev/signedTransaction.ts";
import type { WalletErrorCode, WalletSent, WalletTransaction } from "../../dev/wallet.ts";
import type { SimulationJob, SimulationResult } from "../../execution/simulation/callRequest.ts";
import type { StateQuery, StateQueryResult } from "../../execution/simulation/stateQuery.ts";
import type { GiftAnswer, GiftRequest } from "../../faucet/gift.ts";
import type { FoundLogs } from "../../logs/findLogs.ts";
import type { LogIndexStatus } from "../../logs/logIndex.ts";
import type { BlockRange } from "../../logs/logQuery.ts";
import type { PackedCriteria } from "../../logs/packedCriteria.ts";
import type { LogLevel, LogModule } from "../../observability/levels.ts";
import type { MetricFamily } from "../../observability/registry.ts";
import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Requester } from "../../primitives/requester.ts";
import type { Result } from "../../primitives/result.ts";
import type { PackedAccounts } from "../../state/dump/dumpedAccount.ts";
import type { MiningMode } from "../../storage/developmentMark.ts";
import type { SyncStatus } from "../../sync/syncProgress.ts";
import type { TraceJob, TraceResult } from "../../tracers/traceJob.ts";
import type { BlockFloors } from "../../txpool/limits.ts";
import type { Submitted } from "../../txpool/submission.ts";
import type { PoolStatistics } from "../../txpool/subPoolCounts.ts";
import type { WaitingTransaction } from "../../txpool/waitingReason.ts";
import type { ValidatorVote } from "../../types/extraData.ts";
import type { UnsignedTransaction } from "../../types/unsignedTransaction.ts";
import type { Unread } from "../../workers/sealed.ts";
import type { LoginAnswer, LoginAttempt } from "../access/login.ts";
import type { PackedLogFilter } from "../filters/packedLogFilter.ts";
import type { NodeInfo } from "../nodeInfo.ts";
import type { NumberOrTag } from "../parameters/blockParameter.ts";
import type { Objections } from "../server/health.ts";
import type { CallerServerName, GuardedServerName } from "../server/serverTable.ts";
import type {
  AllowlistErrorCode,
  EnodeErrorCode,
  PeerInfo,
  PeerToPeer,
  ServiceEndpoints,
} from "./coreParts.ts";
import type { PackedListing, PackedTransactions, PoolListing } from "./packedTransactions.ts";
import type { PoolFilter } from "./poolFilter.ts";

/**
 * What the main thread offers to those who answer callers: everything about the node that is not in its database. Blocks and states
 * are read by each thread itself (chain/view/chainView.ts).
 *
 *   mainCore.ts     on the main thread, over chain, pool, consensus and peers
 *   remoteCore.ts   on a thread for callers, over its channel to the main thread
 *
 * A method awaits `pool.transaction(hash, context)` and does not know where it runs. The last argument of each call says who
 * waits for the answer: queues serve remote hosts and their connections in turn, limits are shared out by remote host, and work for
 * a requester who has gone is dropped. Values cross threads by structured clone, so none of them has methods.
 *
 * A call rejects with TooManyRequests when too many wait for the main thread, save those whose result can say so (coreCalls.ts).
 */
export interface Core {
  readonly pool: PoolCalls;
  readonly filters: FilterCalls;
  readonly network: NetworkCalls;
  readonly consensus: ConsensusCalls;
  readonly mining: MiningCalls;
  readonly permissions: PermissionCalls;
  readonly history: HistoryCalls;
  readonly wallet: WalletCalls;
  readonly logIndex: LogIndexCalls;
  readonly node: NodeCalls;
  readonly jobs: JobCalls;
  readonly serving: ServingCalls;
  readonly development: DevelopmentCalls;
}

/** The transaction pool. */
export interface PoolCalls {
  /**
   * Decodes a raw transaction, has its sender recovered, and adds it to the pool as a local one. Those of one thread are added in their
   * order. It is added also when the requester has gone.
   */
  submit(raw: Uint8Array, requester: Requester): Promise<Submitted>;
  /** One pooled transaction; empty when the pool does not have it. */
  transaction(hash: Hash, requester: Requester): Promise<PackedTransactions>;
  /** The first nonce of the account that neither the chain nor a pending transaction uses. */
  nextNonce(address: Address, requester: Requester): Promise<bigint>;
  statistics(requester: Requester): Promise<PoolStatistics>;
  /** Transactions of all senders, or of one, of at most so many bytes as JSON text (listingLimit.ts). */
  bySender(sender: Address | undefined, limitBytes: number, requester: Requester): Promise<PoolListing>;
  /** The first `limit` transactions that pass the filter; "tooLarge" when they are more than `limitBytes` as JSON text. */
  matching(
    filter: PoolFilter,
    limit: number,
    limitBytes: number,
    requester: Requester,
  ): Promise<PackedListing | "tooLarge">;
  /** Hash, origin and time of arrival of all transactions; "tooMany" when there are more than `limit`. */
  entries(limit: number, requester: Requester): Promise<PackedEntries | "tooMany">;
  /** Some transactions in the order of their arrival, and why each of them waits. */
  waiting(query: WaitingQuery, requester: Requester): Promise<WaitingListing>;
}

/** A part of the list of waiting transactions. */
export interface WaitingQuery {
  readonly order: "newest" | "oldest";
  /** The `next` of the part before; undefined for the first one. */
  readonly after: number | undefined;
  /** Most transactions of the part. */
  readonly limit: number;
}

export interface WaitingListing {
  readonly items: readonly WaitingItem[];
  /** The `after` of the following part; undefined when there is none. */
  readonly next: number | undefined;
  readonly pending: number;
  readonly queued: number;
  readonly floors: BlockFloors;
}

/** A waiting transaction without its data, so that it is short. */
export interface WaitingItem extends Omit<WaitingTransaction, "entry"> {
  readonly hash: Hash;
  readonly sender: Address;
  readonly to: Address | undefined;
  readonly nonce: bigint;
  readonly valueWei: bigint;
  readonly gasLimit: bigint;
  readonly feeCapWei: bigint;
  /** The first four bytes of its data, or fewer. */
  readonly selector: Uint8Array;
  readonly isLocal: boolean;
  readonly addedAtMs: number;
}

/** Members of the same index belong to one entry. */
export interface PackedEntries {
  /** 32 bytes each. */
  readonly hashes: Uint8Array<ArrayBuffer>;
  /** 1 for a local transaction, 0 for one of a peer. */
  readonly areLocal: Uint8Array<ArrayBuffer>;
  /** Milliseconds since 1970. */
  readonly addedAtMs: Float64Array<ArrayBuffer>;
}

/** The filters of eth_newFilter and its kin, which any connection may poll by their ids (filters/filters.ts). */
export interface FilterCalls {
  /** The id of the new filter, as for the next two; undefined when the remote host has as many as its share. */
  addLogs(filter: PackedLogFilter, requester: Requester): Promise<string | undefined>;
  addBlocks(requester: Requester): Promise<string | undefined>;
  addPending(requester: Requester): Promise<string | undefined>;
  /** What is new since the last poll; undefined when there is no such filter. */
  changes(id: string, requester: Requester): Promise<FoundLogs | undefined>;
  /** All logs of a log filter's range; undefined when there is no such log filter. */
  logs(id: string, requester: Requester): Promise<FoundLogs | undefined>;
  remove(id: string, requester: Requester): Promise<boolean>;
}

/** Peers, and how this node is reached. Answers are "disabled" where peer-to-peer networking is. */
interface NetworkCalls {
  info(requester: Requester): Promise<NetworkInfo>;
  peers(requester: Requester): Promise<readonly PeerInfo[] | "disabled">;
  /** Makes the node a maintained peer; false when it was one already, or is this node. */
  addPeer(enode: string, requester: Requester): Promise<Result<boolean, EnodeErrorCode> | "disabled">;
  /** Disconnects from the node and stops maintaining it; false when it was not a maintained peer. */
  removePeer(enode: string, requester: Requester): Promise<Result<boolean, EnodeErrorCode> | "disabled">;
}

interface NetworkInfo {
  /** Highest version of the eth protocol that the program speaks, also when peer-to-peer networking is disabled. */
  readonly ethVersion: number;
  /** The running services besides peer-to-peer. */
  readonly services: ServiceEndpoints;
  /** Undefined when peer-to-peer networking is disabled. */
  readonly peerToPeer: Omit<PeerToPeer, "peers" | "addPeer" | "removePeer"> | undefined;
}

/** Consensus, and the operator's votes on the validator set. */
interface ConsensusCalls {
  status(requester: Requester): Promise<ConsensusStatus>;
  /** Casts the vote from now on. "full" when there is no room for another one; "lastValidator", unless forced, see voteProposals.ts. */
  propose(
    vote: ValidatorVote,
    isForced: boolean,
    requester: Requester,
  ): Promise<"proposed" | "full" | "lastValidator">;
  /** Discards the vote on this account, if there is one. */
  discard(recipient: Address, requester: Requester): Promise<void>;
  pending(requester: Requester): Promise<readonly ValidatorVote[]>;
}

/** What an operator may change at run time about the blocks that this node builds; a restart resets all of it. */
interface MiningCalls {
  status(requester: Requester): Promise<MiningStatus>;
  /** Lifts the operator's stop: the node proposes and votes again unless something else prevents it. */
  start(requester: Requester): Promise<void>;
  /** Stops proposing and voting until started again. */
  stop(requester: Requester): Promise<void>;
  /** Changes what eth_coinbase shows, not who is paid. */
  setCoinbase(address: Address, requester: Requester): Promise<void>;
  /** Gas limit that this node's blocks approach step by step. */
  setTargetGasLimit(gas: bigint, requester: Requester): Promise<void>;
  /** Sets the vanity of this node's blocks, 32 bytes. */
  setExtraData(extraData: Uint8Array, requester: Requester): Promise<void>;
  /** Replaces those lowest prices that are given. */
  setPriceFloors(floors: Partial<BlockFloors>, requester: Requester): Promise<void>;
}

interface MiningStatus {
  /** True on a validator that is neither paused nor catching up. */
  readonly isMining: boolean;
  readonly coinbase: Address;
  readonly extraData: Uint8Array;
  readonly priceFloors: BlockFloors;
}

/** The operator's allowlists. Answers are "disabled" where the list is. */
interface PermissionCalls {
  items(list: AllowlistName, requester: Requester): Promise<readonly string[] | "disabled">;
  /** Changes the list in memory and in its file. */
  change(
    list: AllowlistName,
    change: "add" | "remove",
    items: readonly string[],
    requester: Requester,
  ): Promise<"changed" | AllowlistErrorCode | "disabled">;
  /** Reloads both lists from their files, or leaves both unchanged. */
  reload(requester: Requester): Promise<"reloaded" | "notReloaded" | "disabled">;
}

export type AllowlistName = "accounts" | "nodes";

/** Rewinds and replays of the node's own chain (chain/rewindAndReplay.ts); one at a time. */
interface HistoryCalls {
  /** "unknownBlock", here and below, for a block that the chain does not have. A tag names a block of the moment at which work begins. */
  setHead(block: NumberOrTag, requester: Requester): Promise<Result<void, RewindErrorCode> | "unknownBlock">;
  /** The genesis block is unknown, too: it has no parent to rewind to. */
  replayBlock(
    block: NumberOrTag,
    requester: Requester,
  ): Promise<Result<void, RewindErrorCode> | "unknownBlock">;
  resyncWorldState(requester: Requester): Promise<Result<void, RewindErrorCode>>;
}

/** Accounts of the development network (dev/wallet.ts); only there, and only its groups of methods make these calls. */
interface WalletCalls {
  /** Signs a transaction, with the account's next nonce unless it has one, and submits it. */
  send(
    from: Address,
    transaction: WalletTransaction,
    requester: Requester,
  ): Promise<Result<WalletSent, WalletErrorCode>>;
  /** Signs a transaction without submitting it. */
  sign(
    from: Address,
    transaction: UnsignedTransaction,
    requester: Requester,
  ): Promise<Result<SignedTransaction, "unknownAccount">>;
  /** Lets transactions of the account be sent without its key; false when too many are impersonated. */
  impersonate(address: Address, requester: Requester): Promise<boolean>;
  /** False when the account was not impersonated. */
  stopImpersonating(address: Address, requester: Requester): Promise<boolean>;
  /** Impersonates every account, or only those that are named. */
  impersonateAll(isWanted: boolean, requester: Requester): Promise<void>;
}

/** The bloom files, which speed up searches for old logs (logs/logIndex.ts). */
interface LogIndexCalls {
  status(requester: Requester): Promise<LogIndexStatus>;
  /** Rewrites the files of these blocks, the second one excluded; false while a task runs. */
  generate(from: bigint, to: bigint, requester: Requester): Promise<boolean>;
  /** Removes the files that cover these blocks. */
  remove(from: bigint, to: bigint, requester: Requester): Promise<void>;
  /** Rewrites the files of all blocks before this one; false while a task runs. */
  repair(before: bigint, requester: Requester): Promise<boolean>;
}

/** The node as a process, and what it has seen. */
interface NodeCalls {
  /** The machine, the peers and the disk, as operators see them. */
  info(requester: Requester): Promise<NodeInfo>;
  /** Undefined when the node is not syncing. */
  syncStatus(requester: Requester): Promise<SyncStatus | undefined>;
  /** When this node had the blocks from `newest` downwards, `count` of them; those that it knows. */
  arrivals(newest: bigint, count: number, requester: Requester): Promise<readonly BlockArrival[]>;
  /** Encodings of the blocks rejected as invalid since the start, oldest first. */
  badBlocks(requester: Requester): Promise<readonly BadBlock[]>;
  /** The encoding of the one with this hash; undefined when there is none. */
  badBlock(hash: Hash, requester: Requester): Promise<Uint8Array | undefined>;
  /** The current value of every metric; none when metrics are disabled. */
  metrics(requester: Requester): Promise<readonly MetricFamily[]>;
  /** Changes the level from now on, of these modules or of all. */
  changeLogLevel(
    level: LogLevel,
    modules: readonly LogModule[] | undefined,
    requester: Requester,
  ): Promise<void>;
}

export interface BadBlock {
  readonly hash: Hash;
  readonly raw: Uint8Array;
}

/**
 * Work that may take longer than a thread may give to one caller. It runs on threads that are terminated at their time limit, and
 * waits in the main thread's queues, where callers of all threads stand in turn and are bounded together. The main thread does not
 * read it.
 */
export interface JobCalls {
  simulate(job: Unread<SimulationJob>, requester: Requester): Promise<SimulationResult>;
  query<Job extends StateQuery>(job: Unread<Job>, requester: Requester): Promise<StateQueryResult<Job>>;
  trace(job: Unread<TraceJob>, requester: Requester): Promise<TraceResult>;
  /** Traces and writes what is traced to a file of that name, to whose path it resolves; "noRoom" when there is none. */
  traceToFile(
    job: Unread<TraceJob>,
    name: string,
    requester: Requester,
  ): Promise<{ readonly path: string } | "noRoom" | Exclude<TraceResult, { readonly kind: "traced" }>>;
  findLogs(criteria: PackedCriteria, range: BlockRange, requester: Requester): Promise<FoundLogs>;
}

/** What the servers need besides the methods. */
interface ServingCalls {
  /** Why the node is not ready, for /readiness; empty when it is. */
  readiness(query: string, requester: Requester): Promise<Objections>;
  /** Checks a name and a password where the keys of tokens are. */
  login(server: GuardedServerName, attempt: LoginAttempt, requester: Requester): Promise<LoginAnswer>;
  /** Gives the network's coin away; only where the faucet is open. */
  gift(request: GiftRequest, requester: Requester): Promise<GiftAnswer | "busy">;
  /** Another descriptor of the listening socket (server/acceptBalance.ts); undefined while there is none. */
  descriptor(server: CallerServerName, requester: Requester): Promise<number | undefined>;
}

/** The comforts of the development network (dev/development.ts); only there, and only its groups of methods make these calls. */
interface DevelopmentCalls {
  mine(order: MineOrder, requester: Requester): Promise<Result<void, DevelopmentErrorCode>>;
  /** Resolves, as the next one does, to the seconds by which the chain's time is ahead of the clock. */
  increaseTime(seconds: bigint, requester: Requester): Promise<Result<bigint, DevelopmentErrorCode>>;
  setTime(timestamp: bigint, requester: Requester): Promise<Result<bigint, DevelopmentErrorCode>>;
  setNextTimestamp(timestamp: bigint, requester: Requester): Promise<Result<void, DevelopmentErrorCode>>;
  /** The time of the block that would be made now. */
  nextTimestamp(requester: Requester): Promise<bigint>;
  /**
   * Fixes the seconds between two blocks' times; undefined to have the clock decide again. Resolves to whether they were fixed before.
   */
  setTimestampInterval(seconds: bigint | undefined, requester: Requester): Promise<boolean>;
  /** Gives the chain this gas limit, in a block of its own. */
  setGasLimit(gasLimit: bigint, requester: Requester): Promise<Result<void, DevelopmentErrorCode>>;
  isAutomatic(requester: Requester): Promise<boolean>;
  /** Milliseconds after which a block comes by time; undefined where none does. */
  intervalMs(requester: Requester): Promise<number | undefined>;
  /** 32 bytes that name the chain until it is reset. */
  instanceId(requester: Requester): Promise<Uint8Array>;
  setAutomatic(isAutomatic: boolean, requester: Requester): Promise<void>;
  /** Makes a block after each such time; undefined for no blocks by time. Transactions are mined as before when `isAutomatic` is undefined. */
  setInterval(
    intervalMs: MiningMode["intervalMs"],
    isAutomatic: boolean | undefined,
    requester: Requester,
  ): Promise<void>;
  /** Resolves to the new snapshot's id. */
  snapshot(requester: Requester): Promise<Result<bigint, DevelopmentErrorCode>>;
  /** Resolves to false when there is no such snapshot. */
  revert(id: bigint, requester: Requester): Promise<Result<boolean, DevelopmentErrorCode>>;
  /** Removes the newest blocks, and makes others in their place. */
  reorganise(order: Reorganisation, requester: Requester): Promise<Result<void, DevelopmentErrorCode>>;
  /** Begins again after the genesis block. */
  reset(requester: Requester): Promise<Result<void, DevelopmentErrorCode>>;
  /** Changes the state, in a block of its own. */
  alter(
    alterations: readonly Alteration[],
    requester: Requester,
  ): Promise<Result<void, DevelopmentErrorCode>>;
  /** Adds the accounts of a dump to the state, in blocks of their own. */
  load(accounts: PackedAccounts, requester: Requester): Promise<Result<void, DevelopmentErrorCode>>;
  /** Sends a transaction with the signature of types/impersonatedSignature.ts for an account without its key. */
  sendAs(raw: Uint8Array, sender: Address, requester: Requester): Promise<Submitted>;
  /** Resolves to whether the pool had it. */
  drop(hash: Hash, requester: Requester): Promise<boolean>;
  dropOf(sender: Address, requester: Requester): Promise<void>;
  dropAll(requester: Requester): Promise<void>;
}
