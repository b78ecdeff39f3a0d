import { compareBytes } from "../primitives/hex.ts";
import type { PeerLimits } from "./admission.ts";
import { type ConnectedPeer, lastingLink } from "./connectedPeer.ts";

/** A connected peer, or one that wants to be. */
export interface PrioritizedPeer {
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  readonly isInbound: boolean;
  /** Maintained peers never give way. */
  readonly isMaintained: boolean;
}

/**
 * Which peers give way when there are too many: those with the lowest priority, which is random, but the same for a node id
 * until the restart (p2p.md#connection-policy). Without it the early peers keep all places.
 */
export interface PeerPriority {
  /** The peers to disconnect so that the limits hold. */
  surplus<P extends PrioritizedPeer>(peers: readonly P[], limits: PeerLimits): readonly P[];
}

/** `chance` draws the priorities once, 0 to 1. */
export function createPeerPriority(chance: () => number): PeerPriority {
  // A secret, so that nobody can choose a node id of high priority.
  const mask = Uint8Array.from({ length: 64 }, () => Math.min(Math.floor(chance() * 256), 255));
  const rankOf = ({ nodeId }: PrioritizedPeer): Uint8Array =>
    nodeId.map((byte, at) => byte ^ (mask[at] ?? 0));
  return {
    surplus(peers, { maxPeers, maxInbound }) {
      const sorted = peers
        .map((peer) => ({ peer, rank: rankOf(peer) }))
        .toSorted((a, b) => compareBytes(a.rank, b.rank))
        .map(({ peer }) => peer);
      const maintained = sorted.filter(({ isMaintained }) => isMaintained);
      const others = sorted.filter(({ isMaintained }) => !isMaintained);
      const inbound = others.filter(({ isInbound }) => isInbound);
      const uninvited = new Set(maxInbound === undefined ? [] : inbound.slice(maxInbound));
      const rest = others.filter((peer) => !uninvited.has(peer));
      return [...uninvited, ...rest.slice(Math.max(0, maxPeers - maintained.length))];
    },
  };
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
