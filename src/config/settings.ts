import type { ChainSpec } from "../chainspec/chainSpec.ts";
import type { EthstatsSettings } from "../ethstats/reporter.ts";
import type { ExplorerSettings } from "../explorer/server.ts";
import type { FaucetTerms } from "../faucet/gift.ts";
import type { TreeUrl } from "../network/discovery/treeUrl.ts";
import type { MetricCategory } from "../observability/categories.ts";
import type { LoggingSettings } from "../observability/logger.ts";
import type { PermissionSettings } from "../permissioning/permissions.ts";
import type { Address } from "../primitives/address.ts";
import type { GraphQlSettings } from "../rpc/server/graphQl.ts";
import type { HttpSettings } from "../rpc/server/http.ts";
import type { IpcSettings } from "../rpc/server/ipc.ts";
import type { WebSocketSettings } from "../rpc/server/websocket.ts";
import type { TxPoolLimits } from "../txpool/limits.ts";
import type { ApiGroup } from "./apiGroups.ts";
import type { Enode, HostNames } from "./enode.ts";
import type { NatSettings } from "./natSettings.ts";

/** A genesis file, read and checked. */
export interface NetworkGenesis {
  readonly genesisFile: string;
  readonly chainSpec: ChainSpec;
}

/** The node's complete configuration: read once, checked as a whole, never changed. Paths are absolute. */
export interface Settings extends NetworkGenesis {
  /** True for the development network of `npm start`, which runs when no network was configured. */
  readonly isDevelopmentNetwork: boolean;
  /** Whether the text after the start of the development network has the private keys of its accounts. */
  readonly showsDevelopmentKeys: boolean;
  /** The comforts of the development network; undefined in any other, and where others could share its chain. */
  readonly development: DevelopmentSettings | undefined;
  /**
   * What takes the place of both in a folder whose chain an earlier version began under the same file; undefined for all files but
   * that of the development network.
   */
  readonly formerGenesis: NetworkGenesis | undefined;
  readonly dataPath: string;
  /** Size of the database's cache; undefined for its default. */
  readonly databaseCacheBytes?: number;
  /** Memory that this node may count on; that of the machine or its container unless given. */
  readonly memoryBytes?: number;
  readonly nodeKey: NodeKeySettings;
  /** The process that signs for this validator; absent where the node's own key is the validator's. */
  readonly signer?: SignerSettings;
  /** --network-id, or the chain id. */
  readonly networkId: bigint;
  /** Shown by --version and web3_clientVersion, and sent to peers. */
  readonly clientVersion: string;
  /** File that holds the process id while the node runs. */
  readonly pidFile?: string;
  readonly logging: LoggingSettings;
  /** Undefined when the server is off. */
  readonly http: (HttpSettings & OfferSettings) | undefined;
  /** Undefined when the server is off. */
  readonly webSocket: (WebSocketSettings & OfferSettings) | undefined;
  /** Undefined when the server is off. */
  readonly ipc: (IpcSettings & OfferSettings) | undefined;
  /** Undefined when the server is off. */
  readonly graphQl: (GraphQlSettings & AuthenticatedSettings) | undefined;
  /** Undefined when the explorer is off. */
  readonly explorer: ExplorerSettings | undefined;
  /** Undefined when the faucet is off. */
  readonly faucet: FaucetSettings | undefined;
  readonly rpc: RpcAnswerSettings;
  /** The index by address; undefined when it is off. */
  readonly accountIndex: AccountIndexLimits | undefined;
  /** Maximum number of peers, not counting maintained ones. */
  readonly maxPeers: number;
  /** Undefined when peer-to-peer networking is off. */
  readonly peers: PeerSettings | undefined;
  /** Undefined when metrics are off. */
  readonly metrics: MetricsSettings | undefined;
  /** The ethstats server to report to; undefined for none. */
  readonly ethstats: EthstatsSettings | undefined;
  readonly pool: TxPoolLimits;
  /** File that keeps the pool over a restart; undefined when it is not kept. */
  readonly poolFile: string | undefined;
  /** The allowlists of accounts and nodes, and whether node URLs may have host names. */
  readonly permissions: PermissionSettings & { readonly hostNames: HostNames };
  readonly blockProduction: BlockProductionSettings;
  /** Free space on the data folder's disk below which no blocks are made; 0 for no limit. */
  readonly minFreeDiskBytes: number;
  /** Blocks below the head whose states are kept; undefined for all. */
  readonly stateHistory: bigint | undefined;
  /** Blocks below the head that are kept whole; of older ones only the headers stay. Undefined for all. */
  readonly blockHistory: bigint | undefined;
  /** Interval between two verifications of the whole database. */
  readonly databaseScrubMs: number;
  /** Keep the revert data of failed transactions, for receipts. */
  readonly keepsRevertReasons: boolean;
  /** Adjustments that are not problems; each is logged once at the start, at INFO. */
  readonly notes: readonly string[];
  /** Each is logged once at the start, at WARN. */
  readonly warnings: readonly string[];
}

export interface DevelopmentSettings {
  /** Whether a block is made as soon as a transaction arrives, and none otherwise. */
  readonly isInstant: boolean;
  /** Whether other machines may use the comforts. */
  readonly isRemoteAllowed: boolean;
}

interface AccountIndexLimits {
  /** Size above which the oldest blocks are removed from the index; 0 for no limit. */
  readonly maxBytes: number;
}

export interface PeerSettings {
  /** Address to listen on. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Address in our enode URL. */
  readonly advertisedHost: string;
  readonly nat: NatSettings;
  /** Maximum number of inbound connections; undefined for no separate limit. */
  readonly maxInbound: number | undefined;
  /** Whether peers have random priorities when there are too many. */
  readonly hasRandomPriority: boolean;
  /** Nodes that the node stays connected with. */
  readonly maintained: readonly Enode[];
  readonly bannedIds: readonly Uint8Array[];
  /** Undefined when discovery is off. */
  readonly discovery: DiscoverySettings | undefined;
  /** Ranges such as 10.0.0.0/8 that peers must be in; empty for no restriction. */
  readonly subnets: readonly string[];
}

export interface DiscoverySettings {
  readonly bootnodes: readonly Enode[];
  /** A list of nodes in DNS. */
  readonly dnsList?: DnsListSettings;
  /** Whether nodes whose record names a fork id of another chain are left out. */
  readonly checksForkId: boolean;
}

interface DnsListSettings {
  readonly tree: TreeUrl;
  /** Undefined for the system's. */
  readonly nameServer: string | undefined;
}

export interface KeystoreSettings {
  readonly path: string;
  /** A file whose first line is the keystore's password. */
  readonly passwordFile: string;
}

/** A Web3Signer and the one key of it that is the validator's. */
export interface SignerSettings {
  readonly url: URL;
  /** 64 bytes. */
  readonly publicKey: Uint8Array;
  /** Certificates to trust instead of the system's. */
  readonly caFile?: string;
}

export interface NodeKeySettings {
  /** The plain key file; not read and not written where there is a keystore. */
  readonly path: string;
  readonly keystore?: KeystoreSettings;
  /**
   * Key to write when the file is absent: the well-known one, for the development network of `npm start` only. 32 bytes.
   */
  readonly initialKey?: Uint8Array;
}

/** Who may call a server. */
export interface AuthenticatedSettings {
  /** Undefined where everybody may call. */
  readonly authentication: AuthenticationSettings | undefined;
}

/** What a server of JSON-RPC offers, and to whom. */
export interface OfferSettings extends AuthenticatedSettings {
  readonly groups: readonly ApiGroup[];
}

/** The faucet, which is asked on the explorer's port. */
export interface FaucetSettings extends FaucetTerms {
  /** 32 bytes. */
  readonly privateKey: Uint8Array;
}

/** Who may call a server: holders of tokens that this node issues to its users, or that others issue. */
export interface AuthenticationSettings {
  /** Users who may log in; undefined where others issue the tokens. */
  readonly users: readonly UserSettings[] | undefined;
  /** Undefined where this node issues the tokens. */
  readonly issuer: TokenIssuerSettings | undefined;
  /** Methods that need no token. */
  readonly openMethods: readonly string[];
}

export interface UserSettings {
  readonly name: string;
  /** The password's hash by bcrypt. */
  readonly passwordHash: string;
  /** Permissions such as `eth:*`. */
  readonly permissions: readonly string[];
}

export interface TokenIssuerSettings {
  /** PEM. */
  readonly publicKey: string;
  readonly algorithm: TokenAlgorithm;
  /** Tokens must name it; undefined where any audience will do. */
  readonly audience: string | undefined;
}

export type TokenAlgorithm = "RS256" | "RS384" | "RS512" | "ES256" | "ES384" | "ES512";

export interface MetricsSettings {
  readonly categories: ReadonlySet<MetricCategory>;
  /** False to leave out durations. */
  readonly hasTimers: boolean;
  readonly server?: MetricsServerSettings;
  readonly push?: MetricsPushSettings;
}

export interface MetricsServerSettings {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** ["*"] for any host, [] for none, else names without ports. */
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
  /** Threads for callers, at least 1; undefined to go by the cores. */
  readonly threads: number | undefined;
  /** Gas limit of a simulated call; 0 for no cap. */
  readonly gasCap: bigint;
  /** Maximum block range of a log query; 0 for no limit. */
  readonly maxLogsRange: bigint;
  /** Maximum block range of trace_filter; 0 for no limit. */
  readonly maxTraceFilterRange: bigint;
  /** Whether the bloom index is written in the background, without a request. */
  readonly isLogIndexAutomatic: boolean;
  readonly gasPrice: {
    /** How many of the newest blocks eth_gasPrice samples. */
    readonly blocks: number;
    /** 0 to 100. */
    readonly percentile: number;
    readonly maxWei: bigint;
  };
  /** Answer of eth_coinbase; undefined for the node's own address. */
  readonly coinbase: Address | undefined;
  /** Maximum size in the pool's statistics; -1 unless the operator set one. */
  readonly poolMaxSize: number;
}

interface BlockProductionSettings {
  /** Lowest gas price of a transaction in our blocks; can change at run time. */
  readonly minGasPriceWei: bigint;
  /** Lowest priority fee per gas in our blocks. */
  readonly minPriorityFeeWei: bigint;
  /** How full a block must be to stop trying smaller transactions, 0 to 1. */
  readonly minOccupancyRatio: number;
  /** Size limit of the transactions in one of our blocks. */
  readonly maxBlockBytes: number;
  /** Gas limit that our blocks approach; undefined keeps the parent's. */
  readonly targetGasLimit: bigint | undefined;
  /** Time budget for filling a block, in percent of the current block period; may exceed 100. */
  readonly selectionTimePercent: number;
  /** Vanity bytes of our blocks' extra data, exactly 32. */
  readonly vanity: Uint8Array;
}
