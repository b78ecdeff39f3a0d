import type { Address } from "../primitives/address.ts";
import { expectDefined } from "../primitives/assert.ts";
import type { Timer } from "../primitives/clock.ts";
import type { Endpoint } from "../primitives/endpoint.ts";
import { addressOfPublicKey } from "../primitives/secp256k1.ts";
import { PeerScore } from "./peerScore.ts";
import type { Connection } from "./rlpx/connection.ts";
import type { Hello } from "./rlpx/hello.ts";
import type { Sessions } from "./sessions.ts";

/** A peer with its open connections: one, or two for some seconds after both ends have dialed each other. */
export interface ConnectedPeer {
  readonly nodeId: Uint8Array;
  readonly address: Address;
  readonly reputation: PeerScore;
  readonly links: Set<Link>;
  readonly openedMs: number;
}

/** An open connection with its sessions. */
export interface Link {
  readonly peer: ConnectedPeer;
  readonly connection: Connection;
  readonly hello: Hello;
  readonly openedMs: number;
  readonly sessions: Sessions;
  /** False for the crossing connection that will be closed soon. */
  isLasting: boolean;
  timer: Timer | undefined;
}

/** A peer as shown to operators. */
export interface PeerView {
  readonly nodeId: Uint8Array;
  readonly address: Address;
  readonly hello: Hello;
  readonly isInbound: boolean;
  readonly remote: Endpoint;
  /** The local end of the connection; undefined once it is closed. */
  readonly local: Endpoint | undefined;
  readonly isReady: boolean;
  /** Shared protocols. */
  readonly protocols: readonly { readonly name: string; readonly version: number }[];
  readonly reputation: number;
  /** Two while crossing connections exist. */
  readonly connections: number;
}

/** A peer without a connection yet. */
export function createConnectedPeer(nodeId: Uint8Array, nowMs: number): ConnectedPeer {
  return {
    nodeId,
    address: addressOfPublicKey(nodeId),
    reputation: new PeerScore(),
    links: new Set(),
    openedMs: nowMs,
  };
}

/** The connection that stays when two are open, else the first; throws when the peer has none. */
export function lastingLink({ links }: ConnectedPeer): Link {
  const [first] = links;
  return expectDefined([...links].find(({ isLasting }) => isLasting) ?? first, "a peer's connection");
}

/** Whether the handshakes of all protocols are complete on one of its connections. */
export function isReady({ links }: ConnectedPeer): boolean {
  return [...links].some(({ sessions }) => sessions.isReady);
}

/** The current view of a connected peer for the rest of the node. */
export function viewOf(peer: ConnectedPeer): PeerView {
  const { connection, hello, sessions } = lastingLink(peer);
  return {
    nodeId: peer.nodeId,
    address: peer.address,
    hello,
    isInbound: connection.isInbound,
    remote: connection.remote,
    local: connection.local,
    isReady: isReady(peer),
    protocols: sessions.protocols,
    reputation: peer.reputation.score,
    connections: peer.links.size,
  };
}
