import type { ChainSpec } from "../chainspec/chainSpec.ts";
import type { MetricCategory } from "../observability/categories.ts";
import type { LoggingSettings } from "../observability/logger.ts";
import type { PermissionSettings } from "../permissioning/permissions.ts";
import type { Address } from "../primitives/address.ts";
import type { TxPoolLimits } from "../txpool/limits.ts";
import type { ApiGroup } from "./apiGroups.ts";
import type { Enode } from "./enode.ts";

/** All that was decided before the node starts: read once, checked as a whole, never changed. Paths are absolute. */
export interface Settings {
  /** True for the development network of `npm start`: nothing was said about which network to run. */
  readonly isDevelopmentNetwork: boolean;
  readonly genesisFile: string;
  /** The genesis file, read and checked. */
  readonly chainSpec: ChainSpec;
  readonly dataPath: string;
  /** Bytes of the database to keep in memory; undefined for its own measure. */
  readonly databaseCacheBytes?: number;
  readonly nodeKey: NodeKeySettings;
  /** --network-id, or the chain id. */
  readonly networkId: bigint;
  /** What --version, web3_clientVersion and peers are told. */
  readonly clientVersion: string;
  /** Where the process id is kept while the node runs. */
  readonly pidFile?: string;
  readonly logging: LoggingSettings;
  /** Undefined when the server is off. */
  readonly http: HttpSettings | undefined;
  /** Undefined when the server is off. */
  readonly webSocket: WebSocketSettings | undefined;
  readonly rpc: RpcAnswerSettings;
  /** Most peers at a time, those aside with whom we are to stay connected. */
  readonly maxPeers: number;
  /** Undefined when the node keeps to itself. */
  readonly peers: PeerSettings | undefined;
  /** Undefined when nothing is counted. */
  readonly metrics: MetricsSettings | undefined;
  readonly pool: TxPoolLimits;
  /** Where the pool is kept over a restart; undefined when it is not kept. */
  readonly poolFile: string | undefined;
  /** Whom the node lets in, where the operator keeps lists of them; nodes by host names only where those are allowed. */
  readonly permissions: PermissionSettings & { readonly allowsHostNames: boolean };
  readonly blockProduction: BlockProductionSettings;
  /** Free space on the data folder's disk below which no blocks are made; 0 for none. */
  readonly minFreeDiskBytes: number;
  /** Between two rounds in which all of the database is verified. */
  readonly databaseScrubMs: number;
  /** Keep the revert data of failed transactions, for receipts. */
  readonly keepsRevertReasons: boolean;
  /** What was settled for the operator without anything being wrong; each is logged once at the start. */
  readonly notes: readonly string[];
  /** What the operator should know about the choices made; each is logged once at the start. */
  readonly warnings: readonly string[];
}

export interface PeerSettings {
  /** Address to listen on. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Address in our enode URL. */
  readonly advertisedHost: string;
  /** Most peers that called us; undefined for no share of their own. */
  readonly maxInbound: number | undefined;
  /** Nodes to stay connected with. */
  readonly maintained: readonly Enode[];
  readonly bannedIds: readonly Uint8Array[];
  /** Ranges such as 10.0.0.0/8 that peers must be in; empty for anywhere. */
  readonly subnets: readonly string[];
}

export interface NodeKeySettings {
  readonly path: string;
  /**
   * Key to write when the file is absent: the public one, for the development network of `npm start` alone. 32 bytes.
   */
  readonly initialKey?: Uint8Array;
}

export interface HttpSettings extends RpcServerSettings {
  /** ["*"] for any origin, [] for none, else patterns that are joined into one regular expression. */
  readonly corsOrigins: readonly string[];
  /** Most requests in one batch; undefined for no limit. */
  readonly maxBatchSize: number | undefined;
  readonly maxBodyBytes: number;
  /** Indent the answers. */
  readonly isPrettyPrinted: boolean;
}

export interface WebSocketSettings extends RpcServerSettings {
  /** A message may have four frames of this size. */
  readonly maxFrameBytes: number;
}

export interface RpcServerSettings {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly groups: readonly ApiGroup[];
  /** ["*"] for any host, [] for none, else names without ports. */
  readonly hostAllowlist: readonly string[];
  /** Origins whose pages may change the node, written out; patterns and * among them name nobody. */
  readonly trustedOrigins: readonly string[];
  readonly maxConnections: number;
  /** Most of them from one address. */
  readonly maxConnectionsPerAddress: number;
  /** Addresses that many clients may share; without such a limit. */
  readonly proxyAddresses: readonly string[];
  /** Longest that one request may take. */
  readonly timeoutMs: number;
}

export interface MetricsSettings {
  readonly categories: ReadonlySet<MetricCategory>;
  /** False to leave out how long things take. */
  readonly hasTimers: boolean;
  readonly server?: MetricsServerSettings;
  readonly push?: MetricsPushSettings;
}

export interface MetricsServerSettings {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** As in DoorSettings. */
  readonly hostAllowlist: readonly string[];
  readonly idleTimeoutMs: number;
}

export interface MetricsPushSettings {
  readonly host: string;
  readonly port: number;
  readonly intervalMs: number;
  readonly job: string;
}

export interface RpcAnswerSettings {
  /** Most gas that a simulated call may use; undefined for no cap. */
  readonly gasCap: bigint | undefined;
  /** Largest difference between the ends of a query for logs; 0 for no limit. */
  readonly maxLogsRange: bigint;
  /** The same of a query for traces. */
  readonly maxTraceFilterRange: bigint;
  /** Whether the index of logs is written without being asked for. */
  readonly isLogIndexAutomatic: boolean;
  readonly gasPrice: {
    /** Newest blocks that eth_gasPrice looks at. */
    readonly blocks: number;
    /** 0 to 100. */
    readonly percentile: number;
    readonly maxWei: bigint;
  };
  /** What eth_coinbase answers; undefined for the node's own address. */
  readonly coinbase: Address | undefined;
  /** What the pool's statistics show as its size; -1 unless the operator asked for one. */
  readonly poolMaxSize: number;
}

export interface BlockProductionSettings {
  /** Lowest price per gas of a transaction in our blocks; changeable at run time. */
  readonly minGasPriceWei: bigint;
  /** Lowest priority fee per gas in our blocks. */
  readonly minPriorityFeeWei: bigint;
  /** How full a block must be to stop looking for smaller transactions, 0 to 1. */
  readonly minOccupancyRatio: number;
  /** Most bytes of transactions in our blocks. */
  readonly maxBlockBytes: number;
  /** Gas limit to move to; undefined keeps the parent's. */
  readonly targetGasLimit: bigint | undefined;
  /** Time to fill a block, in percent of the block period in force; may exceed 100. */
  readonly selectionTimePercent: number;
  /** Free bytes of our blocks' extra data, exactly 32. */
  readonly vanity: Uint8Array;
}
