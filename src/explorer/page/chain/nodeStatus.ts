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
    readonly databaseBytes: string;
  };
  readonly memory: { readonly residentBytes: string; readonly limitBytes: string };
  readonly openFiles: { readonly open: string | null; readonly limit: string | null };
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
