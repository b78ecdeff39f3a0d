import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import { DENYLIST_LIMIT, MAX_REMEMBERED_DISCONNECTS, USELESS_PEER_BAN_MS } from "./limits.ts";
import type { Disconnect } from "./rlpx/disconnectReason.ts";

/** The last disconnect from a peer. */
export interface RememberedDisconnect extends Disconnect {
  /** Id of the peer; undefined when the connection ended before the peer proved it. */
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
export class BanList {
  readonly #isMaintained: (nodeId: Uint8Array) => boolean;
  readonly #nowMs: () => number;
  readonly #banned: Set<string>;
  readonly #denied = new Set<string>();
  /** End of the ban, by key. */
  readonly #bannedUntilMs = new Map<string, number>();
  readonly #disconnects = new Map<string, RememberedDisconnect>();

  constructor(
    settings: {
      readonly bannedIds: readonly Uint8Array[];
      /** Whether the operator named the peer; such peers are never denied. */
      readonly isMaintained: (nodeId: Uint8Array) => boolean;
    },
    nowMs: () => number,
  ) {
    this.#isMaintained = settings.isMaintained;
    this.#nowMs = nowMs;
    this.#banned = new Set(settings.bannedIds.map(toKey));
  }

  remember(
    disconnect: Disconnect,
    { nodeId, host }: { readonly nodeId: Uint8Array | undefined; readonly host: string },
  ): void {
    const key = nodeId === undefined ? `host ${host}` : toKey(nodeId);
    const count = (this.#disconnects.get(key)?.count ?? 0) + 1;
    this.#disconnects.delete(key);
    this.#disconnects.set(key, { ...disconnect, nodeId, host, atMs: this.#nowMs(), count });
    dropOldest(this.#disconnects, MAX_REMEMBERED_DISCONNECTS);
    if (nodeId === undefined || this.#isMaintained(nodeId)) return;
    if (isPermanent(disconnect)) this.#denied.add(key);
    else if (disconnect.reason === "uselessPeer" && disconnect.by === "us") {
      this.#bannedUntilMs.delete(key);
      this.#bannedUntilMs.set(key, this.#nowMs() + USELESS_PEER_BAN_MS);
    }
    dropOldest(this.#denied, DENYLIST_LIMIT);
    dropOldest(this.#bannedUntilMs, DENYLIST_LIMIT);
  }

  isDenied(nodeId: Uint8Array): boolean {
    const key = toKey(nodeId);
    if (this.#banned.has(key)) return true;
    // The operator may have named the peer since the ban.
    if (this.#isMaintained(nodeId)) return false;
    return this.#denied.has(key) || (this.#bannedUntilMs.get(key) ?? 0) > this.#nowMs();
  }

  /** The remembered disconnects, the latest last. */
  get disconnects(): readonly RememberedDisconnect[] {
    return [...this.#disconnects.values()];
  }
}

/**
 * Whether a ban is permanent (p2p.md#connection-policy): after a breach that this node detected, or a version that either
 * end does not support.
 */
function isPermanent({ reason, by }: Disconnect): boolean {
  return (reason === "breachOfProtocol" && by === "us") || reason === "incompatibleVersion";
}
