import { toDigits } from "../../primitives/hex.ts";
import type { Session } from "../subProtocol.ts";
import { Peer, type PeerParts } from "./peer.ts";

/** The connected peers, by node id. */
export class Peers {
  private readonly parts: PeerParts;
  private readonly peers = new Map<string, Peer>();

  constructor(parts: PeerParts) {
    this.parts = parts;
  }

  /** Adds a connection to the session's peer, which is created with its first one. */
  open(session: Session): void {
    const key = toDigits(session.nodeId);
    const peer = this.peers.get(key) ?? new Peer(session, this.parts);
    this.peers.set(key, peer);
    peer.connections.open(session);
  }

  of(session: Session): Peer | undefined {
    return this.peers.get(toDigits(session.nodeId));
  }

  /** Removes a session that ended; returns its peer if that was its last one. */
  close(session: Session): Peer | undefined {
    const key = toDigits(session.nodeId);
    const peer = this.peers.get(key);
    peer?.connections.close(session);
    if (peer === undefined || !peer.connections.isEmpty) return undefined;
    this.peers.delete(key);
    peer.requests.close();
    return peer;
  }

  /** Peers with a completed Status exchange, in order of arrival. */
  greeted(): readonly Peer[] {
    return [...this.peers.values()].filter(
      ({ status, connections }) => status !== undefined && !connections.isEmpty,
    );
  }

  /** Fails the open requests to all peers. */
  closeRequests(): void {
    for (const peer of this.peers.values()) peer.requests.close();
  }
}
