import { compareBytes } from "../primitives/hex.ts";
import type { PeerLimits } from "./admission.ts";
import { type ConnectedPeer, lastingLink } from "./connectedPeer.ts";

/** A connected peer, or one that wants to be. */
export interface PrioritizedPeer {
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  readonly isInbound: boolean;
  /** Whether the peer is maintained; such peers never give way. */
  readonly isMaintained: boolean;
}

/**
 * Decides which peers give way when there are too many: those with the lowest priority, which is random, but the same for a
 * node id until the restart (p2p.md#connection-policy). Otherwise early peers would keep all places.
 */
export class PeerPriority {
  // The mask is secret, so that nobody can choose a node id of high priority.
  private readonly mask: Uint8Array<ArrayBuffer>;

  /** `chance`, from 0 to 1, draws the priorities once. */
  constructor(chance: () => number) {
    this.mask = Uint8Array.from({ length: 64 }, () => Math.min(Math.floor(chance() * 256), 255));
  }

  /** The peers to disconnect to keep within the limits. */
  surplus<P extends PrioritizedPeer>(
    peers: readonly P[],
    { maxPeers, maxInbound }: PeerLimits,
  ): readonly P[] {
    const sorted = peers
      .map((peer) => ({ peer, rank: this.rankOf(peer) }))
      .toSorted((a, b) => compareBytes(a.rank, b.rank))
      .map(({ peer }) => peer);
    const maintained = sorted.filter(({ isMaintained }) => isMaintained);
    const others = sorted.filter(({ isMaintained }) => !isMaintained);
    const inbound = others.filter(({ isInbound }) => isInbound);
    const uninvited = new Set(maxInbound === undefined ? [] : inbound.slice(maxInbound));
    const rest = others.filter((peer) => !uninvited.has(peer));
    return [...uninvited, ...rest.slice(Math.max(0, maxPeers - maintained.length))];
  }

  private rankOf({ nodeId }: PrioritizedPeer): Uint8Array {
    return nodeId.map((byte, at) => byte ^ (this.mask[at] ?? 0));
  }
}

export function prioritized(
  peers: Iterable<ConnectedPeer>,
  isMaintained: (nodeId: Uint8Array) => boolean,
): readonly PrioritizedPeer[] {
  return [...peers].map((peer) => ({
    nodeId: peer.nodeId,
    isInbound: lastingLink(peer).connection.isInbound,
    isMaintained: isMaintained(peer.nodeId),
  }));
}
