import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { UnminedTransaction } from "../txpool/unminedWatch.ts";

/** Transactions of one answer that no block takes. */
export const MOST_UNMINED = 20;

/** The machine and the peers as explorer_getNodeStatus shows them. No secret, no path, and no address where a peer is reached. */
export interface NodeInfo {
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Why this node makes no blocks and casts no votes; empty when nothing keeps it. */
  readonly pauses: readonly string[];
  readonly isInSync: boolean;
  /** Undefined when peer-to-peer is off. */
  readonly peers: readonly ConnectedPeer[] | undefined;
  readonly maxPeers: number;
  readonly disk: {
    /** Undefined when the system does not say, as the members of `openFiles`. */
    readonly freeBytes: number | undefined;
    /** Free space below which no blocks are made; 0 where the node does not look. */
    readonly reserveBytes: number;
    /** Free space at which they are made again. */
    readonly resumeBytes: number;
    readonly databaseBytes: number;
  };
  readonly memory: {
    readonly residentBytes: number;
    /** The part that only the process can give back, and the part that maps files; undefined where the system does not say. */
    readonly ownBytes: number | undefined;
    readonly mappedBytes: number | undefined;
    readonly limitBytes: number;
  };
  /** Local transactions that blocks with room have passed over for a minute: those that wait longest, MOST_UNMINED at most. */
  readonly unmined: readonly UnminedInfo[];
  /** How many there are in all. */
  readonly unminedCount: number;
  /** Where a visitor's wallet can be sent; undefined where JSON-RPC over HTTP is off, asks who calls, or lacks ETH. */
  readonly walletRpc: WalletRpc | undefined;
  readonly openFiles: { readonly open: number | undefined; readonly limit: number | undefined };
  readonly blockHistory: HistoryInfo;
  readonly stateHistory: HistoryInfo;
}

/** A transaction that no block takes, and why. */
export interface UnminedInfo extends Omit<UnminedTransaction, "entry"> {
  readonly hash: Hash;
  readonly sender: Address;
  readonly nonce: bigint;
  readonly addedAtMs: number;
}

/** What the node has of its old blocks, or of their states. */
export interface HistoryInfo {
  /** The first block that is stored whole, or whose state is kept; 0 where all are. */
  readonly start: bigint;
  /** Blocks below the head that are kept; undefined for all. */
  readonly kept: bigint | undefined;
  /** Blocks before the first one that still take room on the disk; undefined until it is known. */
  readonly left: number | undefined;
}

export interface ConnectedPeer {
  /** The program that it says it is. */
  readonly clientId: string;
  /** Whether the peer made the connection. */
  readonly isInbound: boolean;
  /** The peer's address if it is a validator. */
  readonly validator: Address | undefined;
}

/** JSON-RPC over HTTP as a wallet reaches it, on the host by which the visitor reaches the page. */
export interface WalletRpc {
  readonly port: number;
  readonly isSecure: boolean;
  /** Whether the port answers this machine alone. */
  readonly isLocal: boolean;
}
