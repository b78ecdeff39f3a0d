import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import { DENYLIST_LIMIT, MAX_REMEMBERED_DISCONNECTS, USELESS_PEER_BAN_MS } from "./limits.ts";
import type { Disconnect } from "./rlpx/disconnectReason.ts";

/** The last disconnect from a peer. */
export interface RememberedDisconnect extends Disconnect {
  /** Undefined when the connection ended before the peer proved its id. */
  readonly nodeId: Uint8Array | undefined;
  readonly host: string;
  readonly atMs: number;
  /** Number of disconnects so far, this one included. */
  readonly count: number;
}

/**
 * Remembers until the restart how each peer disconnected, and bans peers: permanently after a breach of protocol, for a
 * while after a disconnect as a useless peer. Each list is bounded; the oldest entries are dropped.
 */
export interface BanList {
  remember(
    disconnect: Disconnect,
    peer: { readonly nodeId: Uint8Array | undefined; readonly host: string },
  ): void;
  isDenied(nodeId: Uint8Array): boolean;
  /** The latest last. */
  readonly disconnects: readonly RememberedDisconnect[];
}

export function createBanList(
  settings: {
    readonly bannedIds: readonly Uint8Array[];
    /** Peers that the operator named; never denied. */
    readonly isMaintained: (nodeId: Uint8Array) => boolean;
  },
  nowMs: () => number,
): BanList {
  const banned = new Set(settings.bannedIds.map(toKey));
  const denied = new Set<string>();
  /** End of the ban, by key. */
  const bannedUntilMs = new Map<string, number>();
  const disconnects = new Map<string, RememberedDisconnect>();
  return {
    remember(disconnect, { nodeId, host }) {
      const key = nodeId === undefined ? `host ${host}` : toKey(nodeId);
      const count = (disconnects.get(key)?.count ?? 0) + 1;
      disconnects.delete(key);
      disconnects.set(key, { ...disconnect, nodeId, host, atMs: nowMs(), count });
      dropOldest(disconnects, MAX_REMEMBERED_DISCONNECTS);
      if (nodeId === undefined || settings.isMaintained(nodeId)) return;
      if (isPermanent(disconnect)) denied.add(key);
      else if (disconnect.reason === "uselessPeer" && disconnect.by === "us") {
        bannedUntilMs.delete(key);
        bannedUntilMs.set(key, nowMs() + USELESS_PEER_BAN_MS);
      }
      dropOldest(denied, DENYLIST_LIMIT);
      dropOldest(bannedUntilMs, DENYLIST_LIMIT);
    },
    isDenied(nodeId) {
      const key = toKey(nodeId);
      if (banned.has(key)) return true;
      // The operator may have named the peer since.
      if (settings.isMaintained(nodeId)) return false;
      return denied.has(key) || (bannedUntilMs.get(key) ?? 0) > nowMs();
    },
    get disconnects() {
      return [...disconnects.values()];
    },
  };
}

/** p2p.md#connection-policy: a breach that this node detected, or a version that either end does not support. */
function isPermanent({ reason, by }: Disconnect): boolean {
  return (reason === "breachOfProtocol" && by === "us") || reason === "incompatibleVersion";
}
