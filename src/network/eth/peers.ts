import { toDigits } from "../../primitives/hex.ts";
import type { Session } from "../subProtocol.ts";
import { Peer, type PeerParts } from "./peer.ts";

/** The connected peers, by node id. */
export interface Peers {
  /** Adds a connection to the session's peer, which is created with its first one. */
  open(session: Session): void;
  of(session: Session): Peer | undefined;
  /** Removes a session that ended; returns its peer if that was its last one. */
  close(session: Session): Peer | undefined;
  /** Peers with a completed Status exchange, in order of arrival. */
  readonly greeted: () => readonly Peer[];
  /** Fails the open requests to all peers. */
  closeRequests(): void;
}

export function createPeers(parts: PeerParts): Peers {
  const peers = new Map<string, Peer>();

  return {
    open(session) {
      const key = toDigits(session.nodeId);
      const peer = peers.get(key) ?? new Peer(session, parts);
      peers.set(key, peer);
      peer.connections.open(session);
    },
    of: (session) => peers.get(toDigits(session.nodeId)),
    close(session) {
      const key = toDigits(session.nodeId);
      const peer = peers.get(key);
      peer?.connections.close(session);
      if (peer === undefined || !peer.connections.isEmpty) return undefined;
      peers.delete(key);
      peer.requests.close();
      return peer;
    },
    greeted: () =>
      [...peers.values()].filter(({ status, connections }) => status !== undefined && !connections.isEmpty),
    closeRequests() {
      for (const peer of peers.values()) peer.requests.close();
    },
  };
}
