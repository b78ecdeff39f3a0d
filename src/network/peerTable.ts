import { toKey } from "../primitives/byteKey.ts";
import type { Clock } from "../primitives/clock.ts";
import { type AdmissionError, type PeerLimits, refuseConnection } from "./admission.ts";
import {
  type ConnectedPeer,
  createConnectedPeer,
  isReady,
  type Link,
  type PeerView,
  viewOf,
} from "./connectedPeer.ts";
import { ConnectionEnds, type ConnectionEndsParts } from "./connectionEnds.ts";
import type { Dialer, NodeAddress, Opener } from "./dialer.ts";
import { GREETING_TIMEOUT_MS, MAX_CHALLENGERS } from "./limits.ts";
import { type PeerPriority, type PrioritizedPeer, prioritized } from "./peerPriority.ts";
import { RivalConnections } from "./rivalConnections.ts";
import { type Agreed, agreeCapabilities } from "./rlpx/capabilities.ts";
import type { Connection } from "./rlpx/connection.ts";
import type { Disconnect, DisconnectReason } from "./rlpx/disconnectReason.ts";
import type { Hello } from "./rlpx/hello.ts";
import { Sessions } from "./sessions.ts";
import { settleSimultaneousConnect } from "./simultaneousConnect.ts";
import type { PeerShare, SubProtocol } from "./subProtocol.ts";
import type { Traffic } from "./traffic.ts";
import { UnsharedProtocols } from "./unsharedProtocols.ts";

interface PeerTableSettings {
  readonly ownId: Uint8Array;
  readonly limits: PeerLimits;
  /** Decides who gives way when there are too many peers; undefined when late peers do. */
  readonly priority: PeerPriority | undefined;
}

interface PeerTableParts extends ConnectionEndsParts {
  readonly protocols: readonly SubProtocol[];
  readonly clock: Clock;
  /** Whether the operator named the node. */
  readonly isMaintained: (nodeId: Uint8Array) => boolean;
  readonly dialer: Pick<Dialer, "connected" | "disconnected" | "denied">;
  /** The peer's share of the main thread's time. */
  readonly shareOf: (nodeId: Uint8Array) => PeerShare;
  readonly isPermitted?: ((node: NodeAddress, from: Opener) => boolean) | undefined;
  /** Whether a connected node may stay; as isPermitted unless given. */
  readonly mayStay?: ((node: NodeAddress, from: Opener) => boolean) | undefined;
  readonly traffic?: Traffic | undefined;
  readonly onPeerConnected?: (() => void) | undefined;
  readonly onPeerDisconnected?: ((disconnect: Disconnect) => void) | undefined;
}

/**
 * The connected peers: admits or refuses a peer after its Hello (admission.ts), dispatches its messages to the
 * sub-protocols (sessions.ts), and reports to the dialer and the ban list how its connections end.
 */
export class PeerTable {
  private readonly settings: PeerTableSettings;
  private readonly parts: PeerTableParts;
  private readonly byId = new Map<string, ConnectedPeer>();
  private readonly links = new Map<Connection, Link>();
  private readonly unsharedProtocols: UnsharedProtocols;
  private readonly ends: ConnectionEnds;
  private readonly rivals: RivalConnections;

  constructor(settings: PeerTableSettings, parts: PeerTableParts) {
    this.settings = settings;
    this.parts = parts;
    this.unsharedProtocols = new UnsharedProtocols(parts.protocols, parts.logger);
    this.ends = new ConnectionEnds(parts);
    this.rivals = new RivalConnections({
      ...parts,
      admit: ({ connection, hello }) => this.open(connection, hello),
      onBothAlive: (first, second) => parts.sharedKeyWarnings.bothAlive(first, second),
    });
  }

  get peers(): readonly PeerView[] {
    return [...this.byId.values()].map(viewOf);
  }

  /** Whether the node has a connection. */
  has(nodeId: Uint8Array): boolean {
    return this.find(nodeId) !== undefined;
  }

  get readyCount(): number {
    return [...this.byId.values()].filter(isReady).length;
  }

  open(connection: Connection, hello: Hello): void {
    const { protocols, clock, traffic, sharedKeyWarnings } = this.parts;
    const refusal = this.refuse(connection, hello);
    if (refusal !== undefined) {
      const known = [...(this.find(hello.nodeId)?.links ?? [])];
      if (refusal.cause === "connected" && connection.isInbound) {
        this.rivals.add({ connection, hello }, known);
        return;
      }
      if (connection.isInbound) traffic?.inboundRefused(refusal.cause);
      if (refusal.cause === "self") sharedKeyWarnings.calledByOwnKey({ connection, hello });
      if (refusal.cause === "permissions" && !connection.isInbound) this.parts.dialer.denied(hello.nodeId);
      connection.disconnect(refusal.reason, refusal.detail);
      return;
    }
    const agreed = agreeCapabilities(protocols, hello.capabilities);
    this.unsharedProtocols.note(hello, agreed, connection.remote);
    if (agreed.length === 0) {
      connection.disconnect("uselessPeer", "no shared protocol");
      return;
    }
    const peer = this.find(hello.nodeId) ?? createConnectedPeer(hello.nodeId, clock.nowMs());
    this.byId.set(toKey(hello.nodeId), peer);
    this.addConnection(peer, connection, hello, agreed);
  }

  receive(connection: Connection, id: number, payload: Uint8Array): void {
    this.links.get(connection)?.sessions.receive(id, payload);
  }

  /** Handles the end of a connection, even one that never opened. */
  end(connection: Connection, disconnect: Disconnect): void {
    const { dialedId, provenId } = connection;
    this.ends.note(connection, disconnect);
    this.rivals.ended(connection);
    const link = this.links.get(connection);
    if (link !== undefined) this.removeConnection(link, disconnect);
    else if (dialedId !== undefined) this.dialFailed(dialedId, disconnect);
    const nodeId = dialedId ?? provenId;
    if (nodeId !== undefined && this.find(nodeId) === undefined)
      this.ends.noteAway(connection, disconnect, link?.hello);
  }

  disconnectPeer(nodeId: Uint8Array, reason: DisconnectReason): void {
    this.rivals.disconnect(nodeId, reason);
    for (const { connection } of [...(this.find(nodeId)?.links ?? [])])
      connection.disconnect(reason, "this node ends the connection");
  }

  disconnectAll(reason: DisconnectReason): void {
    for (const { nodeId } of [...this.byId.values()]) this.disconnectPeer(nodeId, reason);
  }

  /** Disconnects peers that are no longer permitted. */
  review(): void {
    for (const { connection, hello } of [...this.links.values()]) {
      if (this.mayStay(connection, hello)) continue;
      connection.disconnect("requested", "no longer permitted");
      this.parts.dialer.denied(hello.nodeId);
    }
  }

  private find(nodeId: Uint8Array): ConnectedPeer | undefined {
    return this.byId.get(toKey(nodeId));
  }

  private refuse(connection: Connection, hello: Hello): AdmissionError | undefined {
    const { nodeId } = hello;
    const peers = prioritized(this.byId.values(), this.parts.isMaintained);
    const known = [...(this.find(nodeId)?.links ?? [])];
    const refusal = refuseConnection(
      {
        ownId: this.settings.ownId,
        nodeId,
        isInbound: connection.isInbound,
        isMaintained: this.parts.isMaintained(nodeId),
        isDenied: this.parts.banList.isDenied(nodeId),
        isPermitted: this.isPermitted(connection, hello),
        known: known.map((link) => ({ isInbound: link.connection.isInbound, openedMs: link.openedMs })),
        peerCount: peers.length,
        inboundCount: peers.filter(({ isInbound, isMaintained }) => isInbound && !isMaintained).length,
      },
      this.settings.limits,
      this.parts.clock.nowMs(),
    );
    return refusal?.cause === "peers" && this.mayChallenge(connection, nodeId) ? undefined : refusal;
  }

  /** Whether a peer without room would displace another one, once it has completed its handshakes. */
  private mayChallenge({ isInbound }: Connection, nodeId: Uint8Array): boolean {
    const { priority, limits } = this.settings;
    if (priority === undefined || this.byId.size >= limits.maxPeers + MAX_CHALLENGERS) return false;
    const newcomer = { nodeId, isInbound, isMaintained: false };
    return !priority.surplus([...this.ready, newcomer], limits).includes(newcomer);
  }

  private get ready(): readonly PrioritizedPeer[] {
    return prioritized([...this.byId.values()].filter(isReady), this.parts.isMaintained);
  }

  private isPermitted(connection: Connection, hello: Hello): boolean {
    return this.parts.isPermitted?.(addressOf(connection, hello), openerOf(connection)) ?? true;
  }

  private mayStay(connection: Connection, hello: Hello): boolean {
    const mayStay = this.parts.mayStay ?? this.parts.isPermitted;
    return mayStay?.(addressOf(connection, hello), openerOf(connection)) ?? true;
  }

  private addConnection(
    peer: ConnectedPeer,
    connection: Connection,
    hello: Hello,
    agreed: readonly Agreed<SubProtocol>[],
  ): void {
    const { clock, dialer } = this.parts;
    const sessions = this.sessionsOf(peer, connection, hello, agreed);
    const openedMs = clock.nowMs();
    const link: Link = { peer, connection, hello, openedMs, sessions, isLasting: true, timer: undefined };
    peer.links.add(link);
    this.links.set(connection, link);
    dialer.connected(peer.nodeId);
    if (peer.links.size > 1) settleSimultaneousConnect(this.settings.ownId, peer, clock);
    else this.announce(link);
    // A peer that never completes a protocol's handshake is disconnected.
    if (link.timer === undefined && !sessions.isReady) {
      link.timer = clock.at(openedMs + GREETING_TIMEOUT_MS, () => {
        if (!sessions.isReady) connection.disconnect("timeout", "protocol handshake timed out");
      });
    }
    if (sessions.isReady) this.noteReady(peer);
    sessions.open();
  }

  private sessionsOf(
    peer: ConnectedPeer,
    connection: Connection,
    hello: Hello,
    agreed: readonly Agreed<SubProtocol>[],
  ): Sessions {
    const { isMaintained, shareOf, clock, logger, traffic } = this.parts;
    const { nodeId, address, reputation } = peer;
    const { links } = this;
    return new Sessions({
      connection,
      hello,
      agreed,
      peer: {
        nodeId,
        address,
        share: shareOf(nodeId),
        get isMaintained() {
          return isMaintained(nodeId);
        },
        get isLasting() {
          return links.get(connection)?.isLasting ?? false;
        },
        reward: () => reputation.reward(),
        penalise: () => reputation.penalise(clock.nowMs()),
      },
      logger,
      traffic,
      onReady: () => this.noteReady(peer),
    });
  }

  private noteReady({ nodeId }: ConnectedPeer): void {
    const { priority, limits } = this.settings;
    this.parts.unreachablePeers.connected(nodeId);
    for (const { nodeId: displaced } of priority?.surplus(this.ready, limits) ?? [])
      this.disconnectPeer(displaced, "tooManyPeers");
  }

  private announce({ peer, connection, hello }: Link): void {
    const { remote, isInbound } = connection;
    this.parts.onPeerConnected?.();
    this.parts.logger.info(
      { address: peer.address, ...remote, isInbound, client: hello.clientId },
      "peer connected",
    );
  }

  private dialFailed(nodeId: Uint8Array, { reason }: Disconnect): void {
    const { dialer } = this.parts;
    if (this.find(nodeId) !== undefined) dialer.connected(nodeId);
    else dialer.disconnected(nodeId, reason, 0);
  }

  private removeConnection(link: Link, disconnect: Disconnect): void {
    const { peer, connection, sessions } = link;
    link.timer?.cancel();
    this.links.delete(connection);
    peer.links.delete(link);
    if (peer.links.size === 0) this.removePeer(link, disconnect);
    else for (const other of peer.links) other.isLasting = true;
    sessions.close(disconnect.reason);
    if (peer.links.size === 0) this.rivals.freed(peer.nodeId);
  }

  private removePeer({ peer, connection }: Link, disconnect: Disconnect): void {
    const { dialer, clock, logger, onPeerDisconnected } = this.parts;
    this.byId.delete(toKey(peer.nodeId));
    dialer.disconnected(peer.nodeId, disconnect.reason, clock.nowMs() - peer.openedMs);
    onPeerDisconnected?.(disconnect);
    logger.info({ address: peer.address, ...connection.remote, ...disconnect }, "peer disconnected");
  }
}

/** Where a connected node can be called. */
function addressOf({ remote, isInbound }: Connection, { nodeId, listenPort }: Hello): NodeAddress {
  return { nodeId, host: remote.host, tcpPort: isInbound ? listenPort : remote.port };
}

function openerOf({ isInbound }: Connection): Opener {
  return isInbound ? "inbound" : "outbound";
}
