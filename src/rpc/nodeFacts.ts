import type { Address } from "../primitives/address.ts";

/** The machine and the peers as explorer_getNodeStatus shows them. No secret, no path, and no address where a peer is reached. */
export interface NodeFacts {
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
    readonly databaseBytes: number;
  };
  readonly memory: { readonly residentBytes: number; readonly limitBytes: number };
  readonly openFiles: { readonly open: number | undefined; readonly limit: number | undefined };
}

export interface ConnectedPeer {
  /** The program that it says it is. */
  readonly clientId: string;
  /** It made the connection. */
  readonly isInbound: boolean;
  /** Its address, where it is a validator. */
  readonly validator: Address | undefined;
}
