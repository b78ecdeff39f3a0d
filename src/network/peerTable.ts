import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import { expectDefined } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { toHex } from "../primitives/hex.ts";
import { addressOfPublicKey } from "../primitives/secp256k1.ts";
import { isLastingDirection, type PeerLimits, refuseConnection } from "./admission.ts";
import type { BanList } from "./banList.ts";
import type { Dialer, NodeAddress } from "./dialer.ts";
import { CROSS_CONNECTION_LINGER_MS, GREETING_TIMEOUT_MS } from "./limits.ts";
import { createPeerScore, type PeerScore } from "./peerScore.ts";
import { type Agreed, agreeCapabilities } from "./rlpx/capabilities.ts";
import type { Connection, Remote } from "./rlpx/connection.ts";
import type { Disconnect, DisconnectReason } from "./rlpx/disconnectReason.ts";
import type { Hello } from "./rlpx/hello.ts";
import type { PeerShare, Session, SubProtocol } from "./subProtocol.ts";
import type { Traffic } from "./traffic.ts";
import type { UnreachablePeers } from "./unreachablePeers.ts";

/** A peer as shown to operators. */
export interface PeerView {
  readonly nodeId: Uint8Array;
  readonly address: Address;
  readonly hello: Hello;
  readonly isInbound: boolean;
  readonly remote: Remote;
  /** The local end of the connection; undefined once it is closed. */
  readonly local: Remote | undefined;
  readonly isReady: boolean;
  /** Shared protocols. */
  readonly protocols: readonly { readonly name: string; readonly version: number }[];
  readonly reputation: number;
  /** Two while crossing connections exist. */
  readonly connections: number;
}

/** The connected peers: admits or refuses a peer after its Hello, and dispatches its messages to the sub-protocols. */
export interface PeerTable {
  open(connection: Connection, hello: Hello): void;
  receive(connection: Connection, id: number, payload: Uint8Array): void;
  /** Also called for connections that never opened. */
  end(connection: Connection, disconnect: Disconnect): void;
  disconnectPeer(nodeId: Uint8Array, reason: DisconnectReason): void;
  disconnectAll(reason: DisconnectReason): void;
  /** Disconnects peers that are no longer permitted. */
  review(): void;
  readonly peers: readonly PeerView[];
  readonly readyCount: number;
}

interface Peer {
  readonly nodeId: Uint8Array;
  readonly address: Address;
  readonly reputation: PeerScore;
  readonly links: Set<Link>;
  readonly openedMs: number;
}

interface OpenSession extends Agreed<SubProtocol> {
  readonly session: Session;
  /** The protocol got `onOpen`, so it gets `onClose` too. */
  isOpened: boolean;
}

/** An open connection with its sessions. */
interface Link {
  readonly peer: Peer;
  readonly connection: Connection;
  readonly hello: Hello;
  readonly openedMs: number;
  readonly sessions: readonly OpenSession[];
  /** Protocols whose handshake is not complete. */
  readonly pendingGreetings: Set<SubProtocol>;
  isLasting: boolean;
  timer: Timer | undefined;
}

export interface PeerTableParts {
  readonly protocols: readonly SubProtocol[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly dialer: Dialer;
  readonly banList: BanList;
  readonly unreachablePeers: UnreachablePeers;
  /** The peer's share of the main thread's time. */
  readonly shareOf: (nodeId: Uint8Array) => PeerShare;
  readonly isPermitted?: (node: NodeAddress) => boolean;
  readonly traffic?: Traffic | undefined;
  readonly onPeerConnected?: () => void;
  readonly onPeerDisconnected?: (disconnect: Disconnect) => void;
}

export function createPeerTable(
  settings: { readonly ownId: Uint8Array; readonly limits: PeerLimits },
  parts: PeerTableParts,
): PeerTable {
  const { ownId, limits } = settings;
  const { protocols, clock, logger, dialer, banList, unreachablePeers, traffic } = parts;
  const peers = new Map<string, Peer>();
  const links = new Map<Connection, Link>();
  let sharedKeyWarnedMs = Number.NEGATIVE_INFINITY;

  function open(connection: Connection, hello: Hello): void {
    const { nodeId } = hello;
    const known = peers.get(toKey(nodeId));
    const refusal = refuseConnection(
      {
        ownId,
        nodeId,
        isInbound: connection.isInbound,
        isMaintained: dialer.has(nodeId),
        isDenied: banList.isDenied(nodeId),
        isPermitted: isPermitted(connection, hello),
        known: [...(known?.links ?? [])].map((link) => ({
          isInbound: link.connection.isInbound,
          openedMs: link.openedMs,
        })),
        peerCount: peers.size,
        inboundCount: [...peers.values()].filter((peer) => lastingLink(peer).connection.isInbound).length,
      },
      limits,
      clock.nowMs(),
    );
    const agreed = agreeCapabilities(protocols, hello.capabilities);
    if (refusal !== undefined) {
      if (connection.isInbound) traffic?.inboundRefused(refusal.cause);
      // This node never dials itself.
      if (refusal.cause === "self") reportSharedKey(connection.remote);
      connection.disconnect(refusal.reason, refusal.detail);
    } else if (agreed.length === 0) connection.disconnect("uselessPeer", "no shared protocol");
    else addConnection(known ?? newPeer(nodeId), connection, hello, agreed);
  }

  function reportSharedKey(remote: Remote): void {
    if (clock.nowMs() - sharedKeyWarnedMs < SHARED_KEY_WARNING_PAUSE_MS) return;
    sharedKeyWarnedMs = clock.nowMs();
    warnOfSharedKey(logger, remote);
  }

  function isPermitted(connection: Connection, { nodeId, listenPort }: Hello): boolean {
    const { host, port } = connection.remote;
    return parts.isPermitted?.({ nodeId, host, tcpPort: connection.isInbound ? listenPort : port }) ?? true;
  }

  function newPeer(nodeId: Uint8Array): Peer {
    const peer: Peer = {
      nodeId,
      address: addressOfPublicKey(nodeId),
      reputation: createPeerScore(),
      links: new Set(),
      openedMs: clock.nowMs(),
    };
    peers.set(toKey(nodeId), peer);
    return peer;
  }

  function addConnection(
    peer: Peer,
    connection: Connection,
    hello: Hello,
    agreed: readonly Agreed<SubProtocol>[],
  ): void {
    const link: Link = {
      peer,
      connection,
      hello,
      openedMs: clock.nowMs(),
      sessions: agreed.map((one) => ({
        ...one,
        session: createSession(connection, hello, peer, one),
        isOpened: false,
      })),
      pendingGreetings: new Set(
        agreed.map(({ protocol }) => protocol).filter(({ hasGreeting }) => hasGreeting),
      ),
      isLasting: true,
      timer: undefined,
    };
    peer.links.add(link);
    links.set(connection, link);
    dialer.connected(peer.nodeId);
    if (peer.links.size > 1) settleSimultaneousConnect(peer);
    else announce(link);
    // A peer that never completes a protocol's handshake is disconnected.
    if (link.timer === undefined && link.pendingGreetings.size > 0) {
      link.timer = clock.at(clock.nowMs() + GREETING_TIMEOUT_MS, () => {
        if (link.pendingGreetings.size > 0) connection.disconnect("timeout", "protocol handshake timed out");
      });
    }
    noteReady(link);
    for (const one of link.sessions) {
      // An earlier protocol may have ended the connection.
      if (!links.has(connection)) return;
      one.isOpened = true;
      guard(connection, () => one.protocol.onOpen(one.session));
    }
  }

  function noteReady({ peer, pendingGreetings }: Link): void {
    if (pendingGreetings.size === 0) unreachablePeers.connected(peer.nodeId);
  }

  function announce({ peer, connection, hello }: Link): void {
    const { remote, isInbound } = connection;
    parts.onPeerConnected?.();
    logger.info({ address: peer.address, ...remote, isInbound, client: hello.clientId }, "peer connected");
  }

  /** Both ends dialed: the losing connection is closed a little later, when its messages have arrived. */
  function settleSimultaneousConnect(peer: Peer): void {
    for (const link of peer.links) {
      link.isLasting = isLastingDirection(ownId, peer.nodeId, link.connection);
      if (link.isLasting) continue;
      link.timer?.cancel();
      link.timer = clock.at(clock.nowMs() + CROSS_CONNECTION_LINGER_MS, () => {
        if (peer.links.size > 1)
          link.connection.disconnect("alreadyConnected", "both ends had dialed each other");
        else link.isLasting = true;
      });
    }
  }

  function createSession(
    connection: Connection,
    hello: Hello,
    peer: Peer,
    { protocol, offset }: Agreed<SubProtocol>,
  ): Session {
    return {
      nodeId: peer.nodeId,
      address: peer.address,
      hello,
      version: protocol.version,
      isInbound: connection.isInbound,
      remote: connection.remote,
      share: parts.shareOf(peer.nodeId),
      get isMaintained() {
        return dialer.has(peer.nodeId);
      },
      get isLasting() {
        return links.get(connection)?.isLasting ?? false;
      },
      get receivedBytes() {
        return connection.receivedBytes;
      },
      send(code, payload) {
        if (code < 0 || code >= protocol.messageCodes) return false;
        if (!connection.send(offset + code, payload, protocol.priority)) return false;
        count("outbound", protocol, code);
        return true;
      },
      disconnect: (reason, detail = `${protocol.name} ends the connection`) =>
        connection.disconnect(reason, detail),
      greeted() {
        const link = links.get(connection);
        link?.pendingGreetings.delete(protocol);
        if (link !== undefined) noteReady(link);
      },
      reward: () => peer.reputation.reward(),
      penalise() {
        if (peer.reputation.penalise(clock.nowMs())) {
          connection.disconnect("uselessPeer", "too many useless responses");
        }
      },
    };
  }

  function count(direction: "inbound" | "outbound", protocol: SubProtocol, code: number): void {
    const name = protocol.messageNames?.[code] ?? "Invalid";
    traffic?.passed({ direction, protocol: `${protocol.name}/${protocol.version}`, name, code });
  }

  /** An exception in a protocol is a bug; it ends this connection and no other. */
  function guard(connection: Connection, act: () => void): void {
    try {
      act();
    } catch (error) {
      logger.error({ error, ...connection.remote }, "a protocol failed on a peer's message");
      connection.disconnect("requested", "a protocol failed");
    }
  }

  function end(connection: Connection, disconnect: Disconnect): void {
    const { remote, dialedId, provenId } = connection;
    const nodeId = provenId ?? dialedId;
    banList.remember(disconnect, { nodeId: provenId, host: remote.host });
    logger.debug(
      { ...disconnect, ...remote, ...(nodeId && { nodeId: toHex(nodeId) }) },
      "a connection ended",
    );
    const link = links.get(connection);
    if (link !== undefined) removeConnection(link, disconnect);
    else if (dialedId !== undefined) dialFailed(dialedId, disconnect);
    const unreachableId = dialedId ?? provenId;
    if (unreachableId !== undefined && !peers.has(toKey(unreachableId)))
      unreachablePeers.disconnected(unreachableId, disconnect, provenId !== undefined);
  }

  function dialFailed(nodeId: Uint8Array, { reason }: Disconnect): void {
    if (peers.has(toKey(nodeId))) dialer.connected(nodeId);
    else dialer.disconnected(nodeId, reason, 0);
  }

  function removeConnection(link: Link, disconnect: Disconnect): void {
    const { peer, connection } = link;
    link.timer?.cancel();
    links.delete(connection);
    peer.links.delete(link);
    if (peer.links.size === 0) {
      peers.delete(toKey(peer.nodeId));
      dialer.disconnected(peer.nodeId, disconnect.reason, clock.nowMs() - peer.openedMs);
      parts.onPeerDisconnected?.(disconnect);
      logger.info({ address: peer.address, ...connection.remote, ...disconnect }, "peer disconnected");
    } else {
      for (const other of peer.links) other.isLasting = true;
    }
    for (const { protocol, session, isOpened } of link.sessions) {
      if (isOpened) guard(connection, () => protocol.onClose(session, disconnect.reason));
    }
  }

  const disconnectPeer = (peer: Peer, reason: DisconnectReason): void => {
    for (const { connection } of [...peer.links])
      connection.disconnect(reason, "this node ends the connection");
  };

  return {
    open,
    receive(connection, id, payload) {
      const link = links.get(connection);
      // Message ids outside all protocols are ignored (p2p.md#hello-and-capabilities).
      const found = link?.sessions.find(
        ({ offset, protocol }) => id >= offset && id < offset + protocol.messageCodes,
      );
      if (found === undefined) {
        traffic?.passed({ direction: "inbound", protocol: "Wire", name: "Invalid", code: undefined });
        return;
      }
      count("inbound", found.protocol, id - found.offset);
      guard(connection, () => found.protocol.onMessage(found.session, id - found.offset, payload));
    },
    end,
    disconnectPeer(nodeId, reason) {
      const peer = peers.get(toKey(nodeId));
      if (peer !== undefined) disconnectPeer(peer, reason);
    },
    disconnectAll(reason) {
      for (const peer of [...peers.values()]) disconnectPeer(peer, reason);
    },
    review() {
      for (const { connection, hello } of [...links.values()]) {
        if (!isPermitted(connection, hello)) connection.disconnect("requested", "no longer permitted");
      }
    },
    get peers() {
      return [...peers.values()].map(viewOf);
    },
    get readyCount() {
      return [...peers.values()].filter(isReady).length;
    },
  };
}

/** A peer that connects with this node's id has proven that it holds the same key. */
function warnOfSharedKey(logger: Logger, remote: Remote): void {
  logger.warn(
    { ...remote },
    "another node has this node's key: two validators with one key can split the chain; " +
      "stop one of the two, and give it a key of its own (--node-private-key-file)",
  );
}

/** Limits the warnings about a node that keeps connecting. */
const SHARED_KEY_WARNING_PAUSE_MS = 60_000;

function lastingLink({ links }: Peer): Link {
  const [first] = links;
  return expectDefined([...links].find(({ isLasting }) => isLasting) ?? first, "a peer's connection");
}

function isReady({ links }: Peer): boolean {
  return [...links].some(({ pendingGreetings }) => pendingGreetings.size === 0);
}

function viewOf(peer: Peer): PeerView {
  const { connection, hello, sessions } = lastingLink(peer);
  return {
    nodeId: peer.nodeId,
    address: peer.address,
    hello,
    isInbound: connection.isInbound,
    remote: connection.remote,
    local: connection.local,
    isReady: isReady(peer),
    protocols: sessions.map(({ protocol: { name, version } }) => ({ name, version })),
    reputation: peer.reputation.score,
    connections: peer.links.size,
  };
}
