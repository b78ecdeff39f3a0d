/** Answers of explorer_getNodeStatus and explorer_getIndexStatus (docs/explorer-api.md). */

export interface NodeStatus {
  readonly version: string;
  readonly chainId: string;
  readonly networkId: string;
  readonly genesisHash: string;
  readonly fork: string;
  readonly blockPeriodSeconds: string;
  readonly requestTimeoutSeconds: string;
  /** Seconds since 1970. */
  readonly startedAt: string;
  readonly isInSync: boolean;
  readonly pauses: readonly string[];
  /** Null, as `peers`, where peer-to-peer is off. */
  readonly peerCount: string | null;
  readonly maxPeers: string;
  /** Validators first; of many, the first ones. */
  readonly peers: readonly PeerStatus[] | null;
  readonly disk: {
    readonly freeBytes: string | null;
    readonly reserveBytes: string;
    readonly resumeBytes: string;
    readonly databaseBytes: string;
  };
  readonly unminedCount: string;
  /** Transactions that have waited longest; of many, the first ones. */
  readonly unmined: readonly UnminedTransaction[];
  /** Null where no wallet can be sent to the node. */
  readonly walletRpc: WalletRpc | null;
  readonly memory: {
    readonly residentBytes: string;
    /** Null, as `mappedBytes`, where the system does not say. */
    readonly ownBytes: string | null;
    readonly mappedBytes: string | null;
    readonly limitBytes: string;
  };
  readonly openFiles: { readonly open: string | null; readonly limit: string | null };
  readonly blockHistory: NodeHistory;
  readonly stateHistory: NodeHistory;
}

/** Which blocks are whole, or which states are there. */
export interface NodeHistory {
  /** Zero where all are. */
  readonly firstBlock: string;
  /** Blocks below the head that are kept; null for all from the first on. */
  readonly keptBlocks: string | null;
  /** Null until it is known. */
  readonly blocksToRemove: string | null;
}

/** A transaction sent to this node that no block took for a minute, although blocks had room. */
export interface UnminedTransaction {
  readonly hash: string;
  readonly from: string;
  readonly nonce: string;
  /** Seconds since 1970. */
  readonly since: string;
  readonly reason: string;
  /** Wei for each gas. */
  readonly price: string;
  /** What would do, by the reason; null where nobody knows. */
  readonly askedPrice: string | null;
}

/** JSON-RPC over HTTP of the node that serves the page. */
export interface WalletRpc {
  readonly port: string;
  readonly isSecure: boolean;
  /** Whether the port answers visitors on its own machine alone. */
  readonly isLocal: boolean;
}

export interface PeerStatus {
  /** What it says it is, which nobody checked. */
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
