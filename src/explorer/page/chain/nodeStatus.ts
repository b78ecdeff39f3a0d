/** Answers of explorer_getNodeStatus and explorer_getIndexStatus (docs/explorer-api.md). */

export interface NodeStatus {
  readonly version: string;
  readonly chainId: string;
  readonly networkId: string;
  /** Absent from older nodes. */
  readonly coinSymbol?: string;
  readonly genesisHash: string;
  readonly fork: string;
  readonly blockPeriodSeconds: string;
  readonly requestTimeoutSeconds: string;
  /** Seconds since 1970. */
  readonly startedAt: string;
  readonly isInSync: boolean;
  readonly pauses: readonly string[];
  /** Number of peers; null, like `peers`, when peer-to-peer is off. */
  readonly peerCount: string | null;
  readonly maxPeers: string;
  /** The peers, validators first; only the first ones of many. */
  readonly peers: readonly PeerStatus[] | null;
  readonly disk: {
    readonly freeBytes: string | null;
    readonly reserveBytes: string;
    readonly resumeBytes: string;
    readonly databaseBytes: string;
  };
  readonly unminedCount: string;
  /** Transactions that have waited longest; only the first ones of many. */
  readonly unmined: readonly UnminedTransaction[];
  /** JSON-RPC for wallets; null when no wallet can use the node. */
  readonly walletRpc: WalletRpc | null;
  readonly memory: {
    readonly residentBytes: string;
    /** The process's own memory; null, like `mappedBytes`, when the system does not say. */
    readonly ownBytes: string | null;
    readonly mappedBytes: string | null;
    readonly limitBytes: string;
  };
  readonly openFiles: { readonly open: string | null; readonly limit: string | null };
  readonly blockHistory: NodeHistory;
  readonly stateHistory: NodeHistory;
}

/** The range of blocks that are whole, or of states that exist. */
export interface NodeHistory {
  /** The first such block; zero when all are. */
  readonly firstBlock: string;
  /** Number of blocks below the head that are kept; null for all from the first on. */
  readonly keptBlocks: string | null;
  /** Number of blocks yet to be removed; null until it is known. */
  readonly blocksToRemove: string | null;
}

/** A transaction sent to this node that no block included for a minute, although blocks had room. */
export interface UnminedTransaction {
  readonly hash: string;
  readonly from: string;
  readonly nonce: string;
  /** Seconds since 1970. */
  readonly since: string;
  readonly reason: string;
  /** Price, wei per gas. */
  readonly price: string;
  /** A sufficient price, by the reason; null when unknown. */
  readonly askedPrice: string | null;
}

/** JSON-RPC over HTTP of the node that serves the page. */
export interface WalletRpc {
  readonly port: string;
  readonly isSecure: boolean;
  /** Whether the port answers only visitors on its own machine. */
  readonly isLocal: boolean;
}

interface PeerStatus {
  /** The client name that it gives itself, which nobody checked. */
  readonly client: string;
  readonly isInbound: boolean;
  readonly validator: string | null;
}

export interface IndexStatus {
  readonly lastBlock: string | null;
  readonly headBlock: string;
  readonly isCatchingUp: boolean;
  readonly bytes: string;
}
