import { connect as openSocket, type Socket } from "node:net";
import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Endpoint } from "../primitives/endpoint.ts";
import { equalBytes, toHex } from "../primitives/hex.ts";
import { ok, type Result } from "../primitives/result.ts";
import { addressOfPublicKey } from "../primitives/secp256k1.ts";
import type { PeerLimits } from "./admission.ts";
import { BanList, type RememberedDisconnect } from "./banList.ts";
import type { PeerView } from "./connectedPeer.ts";
import { Dialer, type NodeAddress, type Opener } from "./dialer.ts";
import { DiscoveredPeers, joinCandidates } from "./discoveredPeers.ts";
import type { DatagramPort } from "./discovery/datagramPort.ts";
import type { KnownNode } from "./discovery/knownNodes.ts";
import { MAX_SPARE_SOCKETS } from "./limits.ts";
import type { Listener } from "./listener.ts";
import { MaintainedPeers } from "./maintainedPeers.ts";
import { type OpenPorts, openPorts } from "./openPorts.ts";
import { type DiscoverySearch, PeerDiscovery } from "./peerDiscovery.ts";
import { PeerPriority } from "./peerPriority.ts";
import { PeerTable } from "./peerTable.ts";
import { PendingConnections } from "./pendingConnections.ts";
import { ReadingTime } from "./readingTime.ts";
import { BufferBudget } from "./rlpx/bufferBudget.ts";
import { Connection } from "./rlpx/connection.ts";
import type { Disconnect } from "./rlpx/disconnectReason.ts";
import type { OwnIdentity } from "./rlpx/handshake.ts";
import { type Hello, ownHello } from "./rlpx/hello.ts";
import { plainHost } from "./rlpx/plainHost.ts";
import { type OnSharedKey, SharedKeyWarnings } from "./sharedKey.ts";
import type { SubProtocol } from "./subProtocol.ts";
import { baseMessage, type Traffic } from "./traffic.ts";
import { type UnreachablePeer, UnreachablePeers } from "./unreachablePeers.ts";

/** A peer, and the address in its enode URL: the one that was dialed or found, else the one in its Hello. */
export interface NamedPeer extends PeerView {
  readonly named: NodeAddress;
}

export interface NetworkSettings {
  readonly key: OwnIdentity;
  readonly clientId: string;
  /** Listen address; port 0 picks any free port. */
  readonly host: string;
  readonly port: number;
  /** The port that others connect to, given the listen port; absent when it is the same. */
  readonly advertisedPortOf?: (port: number) => number;
  readonly limits: PeerLimits;
  /** Whether peers have random priorities, so that late ones may displace early ones. */
  readonly hasRandomPriority?: boolean;
  /** Nodes to stay connected with, which are admitted beyond the limits and never denied. */
  readonly maintained: readonly NodeAddress[];
  readonly bannedIds: readonly Uint8Array[];
  /** Undefined when discovery is off. */
  readonly discovery?: DiscoverySearch | undefined;
}

export interface NetworkParts {
  readonly protocols: readonly SubProtocol[];
  readonly clock: Clock;
  /** Random number from 0 to 1. */
  readonly chance: () => number;
  readonly logger: Logger;
  /** Called with the listen address and port before any node is judged, found, accepted or dialed. */
  readonly onListening?: (endpoint: Endpoint) => void;
  /** Whether a connection with this node may be opened; its port is the listen port. */
  readonly isPermitted?: (node: NodeAddress, from: Opener) => boolean;
  /** Whether datagrams are exchanged with a node; as isPermitted unless given. */
  readonly isHeard?: ((node: NodeAddress, from: Opener) => boolean) | undefined;
  /** Whether a connected node may stay; as isPermitted unless given. */
  readonly mayStay?: ((node: NodeAddress, from: Opener) => boolean) | undefined;
  /** Whether a node with this node's own id is this one, judging by its address. */
  readonly isOwnAddress?: (node: NodeAddress, endpoint: Endpoint) => boolean;
  /** Whether this address is a validator of the next block. */
  readonly isValidator?: (address: Address) => boolean;
  /** Traffic counters; absent for none. */
  readonly traffic?: Traffic | undefined;
  /** Called when two nodes use the key of this address, one of which is a peer, or this node. */
  readonly onSharedKey?: OnSharedKey;
  readonly onPeerConnected?: () => void;
  readonly onPeerDisconnected?: (disconnect: Disconnect) => void;
}

/** Creates the network; fails when listening is impossible. */
export async function createNetwork(
  settings: NetworkSettings,
  parts: NetworkParts,
): Promise<Result<Network, "addressInUse" | "cannotListen">> {
  const opened = await openPorts(settings, { hasDatagrams: settings.discovery !== undefined });
  return opened.ok ? ok(new Network(settings, parts, opened.value)) : opened;
}

/**
 * The node's connections to its peers (p2p.md#connection-policy).
 *
 *     sockets ── connection.ts: RLPx, Hello, keep-alive, limits ──> peerTable.ts: who may stay ──> sub-protocols
 *        ├ inbound: listener.ts, pendingConnections.ts                       └ banList.ts: who is banned
 *        └ outbound: when dialer.ts says so of maintainedPeers.ts, discoveredPeers.ts <── discovery/
 *
 * Invariants: whatever a peer sends can only end its own connection, with a reason that is remembered; every resource
 * that a peer can make grow has a named bound in limits.ts; a node id has one lasting connection. Not done here: the
 * meaning of messages (sub-protocols such as ibf/ and eth/).
 */
export class Network {
  private readonly settings: NetworkSettings;
  private readonly parts: NetworkParts;
  private readonly listener: Listener;
  private readonly hello: Hello;
  private readonly sockets = new Set<Socket>();
  private readonly pending: PendingConnections;
  private readonly readingTime: ReadingTime;
  private readonly bufferBudget = new BufferBudget();
  private readonly maintained: MaintainedPeers;
  private readonly discovered: DiscoveredPeers;
  private readonly dialer: Dialer;
  private readonly unreachablePeers: UnreachablePeers;
  private readonly sharedKeyWarnings: SharedKeyWarnings;
  private readonly banList: BanList;
  private readonly table: PeerTable;
  private readonly datagrams: DatagramPort | undefined;
  private readonly discovery: PeerDiscovery | undefined;
  private isClosing = false;

  constructor(settings: NetworkSettings, parts: NetworkParts, { listener, datagrams }: OpenPorts) {
    const { clock, logger } = parts;
    const { nodeId } = settings.key;
    this.settings = settings;
    this.parts = parts;
    this.listener = listener;
    this.hello = ownHello({
      clientId: settings.clientId,
      capabilities: parts.protocols.map(({ name, version }) => ({ name, version })),
      listenPort: this.advertisedPort,
      nodeId,
    });
    this.pending = new PendingConnections(clock);
    this.readingTime = new ReadingTime(clock, (id) => this.isTrusted(id));
    this.maintained = new MaintainedPeers({
      ...parts,
      isPermitted: (node) => this.isPermitted(node, "outbound"),
      onDenied: (id) => this.unreachablePeers.disconnected(id, NOT_PERMITTED, false),
    });
    this.discovered = new DiscoveredPeers({
      ...parts,
      room: () => this.room,
      maxPeers: settings.limits.maxPeers,
      provenIds: settings.discovery?.provenIds ?? [],
      isPermitted: (node) => this.isPermitted(node, "outbound"),
      isKnown: (id) => this.maintained.has(id) || this.table.has(id),
    });
    this.dialer = new Dialer({
      clock,
      candidates: joinCandidates([this.maintained, this.discovered]),
      dial: (node) => this.dial(node),
    });
    this.unreachablePeers = new UnreachablePeers({ clock, logger });
    this.sharedKeyWarnings = new SharedKeyWarnings({
      ...parts,
      own: { nodeId, clientId: settings.clientId },
      isTrusted: (id) => this.isTrusted(id),
    });
    this.banList = new BanList(
      { bannedIds: settings.bannedIds, isMaintained: (id) => this.maintained.has(id) },
      () => clock.nowMs(),
    );
    this.table = new PeerTable(
      {
        ownId: nodeId,
        limits: settings.limits,
        priority: settings.hasRandomPriority === true ? new PeerPriority(parts.chance) : undefined,
      },
      {
        ...parts,
        isMaintained: (id) => this.maintained.has(id),
        dialer: this.dialer,
        banList: this.banList,
        unreachablePeers: this.unreachablePeers,
        sharedKeyWarnings: this.sharedKeyWarnings,
        shareOf: (id) => this.readingTime.shareOf(id),
      },
    );
    parts.onListening?.(this.endpoint);
    listener.begin({
      accepted: (socket) => this.accept(socket),
      failed: (error) => logger.warn({ error }, "error on the peer-to-peer port"),
    });
    for (const node of settings.maintained) this.addPeer(node);
    this.datagrams = datagrams;
    this.discovery = this.beginDiscovery(datagrams);
    logger.info({ ...this.endpoint, nodeId: toHex(nodeId) }, "listening for peers");
  }

  /** The address and port on which this node listens. */
  get endpoint(): Endpoint {
    return this.listener.endpoint;
  }

  /** The port that others connect to; it differs from the endpoint's when ports are forwarded. */
  get advertisedPort(): number {
    const { port } = this.endpoint;
    return this.settings.advertisedPortOf?.(port) ?? port;
  }

  /** UDP port of discovery; undefined when it is off. */
  get discoveryPort(): number | undefined {
    return this.discovery === undefined ? undefined : this.endpoint.port;
  }

  /** Nodes that discovery knows and that listen for connections; those whose connections have lasted first. */
  get discoveredNodes(): readonly KnownNode[] {
    const nodes = (this.discovery?.nodes ?? []).map((node) => ({
      ...node,
      isProven: this.discovered.isProven(node.nodeId),
    }));
    return nodes.toSorted((a, b) => Number(b.isProven) - Number(a.isProven));
  }

  /** Peers whose protocols have all completed their handshake. */
  get peerCount(): number {
    return this.table.readyCount;
  }

  get peers(): readonly NamedPeer[] {
    return this.table.peers.map((peer) => ({ ...peer, named: this.nameOf(peer) }));
  }

  private nameOf({ nodeId, isInbound, remote, hello }: PeerView): NodeAddress {
    const { host, port } = remote;
    const found = this.discovered.addressOf(nodeId);
    const isFoundThere = found?.host === host;
    if (isInbound) return isFoundThere ? found : { nodeId, host, tcpPort: hello.listenPort, udpPort: 0 };
    const udpPort = this.maintained.addressOf(nodeId)?.udpPort ?? (isFoundThere ? found.udpPort : undefined);
    return { nodeId, host, tcpPort: port, udpPort: udpPort ?? port };
  }

  /** Bootnodes, static nodes and those of admin_addPeer that are not connected, each with the cause. */
  get unreachable(): readonly UnreachablePeer[] {
    return this.unreachablePeers.list();
  }

  /** Past disconnects, the latest last. */
  get disconnects(): readonly RememberedDisconnect[] {
    return this.banList.disconnects;
  }

  /** Stays connected with the node from now on; false when it already did, or the node is this one. */
  addPeer(node: NodeAddress): boolean {
    if (equalBytes(node.nodeId, this.settings.key.nodeId)) {
      if (this.parts.isOwnAddress?.(node, this.endpoint) === false) this.sharedKeyWarnings.configured(node);
      return false;
    }
    if (!this.maintained.add(node)) return false;
    this.dialer.reschedule();
    this.unreachablePeers.track(node);
    return true;
  }

  /** Stops redialing the node, but keeps the connection with it; false when it was not a maintained peer. */
  stopMaintaining(nodeId: Uint8Array): boolean {
    const wasMaintained = this.maintained.remove(nodeId);
    this.dialer.reschedule();
    this.unreachablePeers.untrack(nodeId);
    return wasMaintained;
  }

  /** Disconnects the node and stops redialing it; false when it was not a maintained peer. */
  removePeer(nodeId: Uint8Array): boolean {
    const wasMaintained = this.stopMaintaining(nodeId);
    if (wasMaintained) this.table.disconnectPeer(nodeId, "requested");
    return wasMaintained;
  }

  /**
   * Disconnects peers that are no longer permitted, and turns to nodes that were not and are now. Must be called when the
   * rules of connections may have changed.
   */
  review(): void {
    if (this.isClosing) return;
    this.table.review();
    this.dialer.review();
    this.discovery?.review();
  }

  /** Sends Disconnect to all peers, and closes every socket. */
  async close(): Promise<void> {
    this.isClosing = true;
    this.discovery?.close();
    this.datagrams?.close();
    this.dialer.stop();
    this.unreachablePeers.stop();
    const isClosed = this.listener.close();
    for (const connection of this.pending.all)
      connection.destroy("clientQuitting", "this node is shutting down");
    this.table.disconnectAll("clientQuitting");
    await flush([...this.sockets]);
    for (const socket of this.sockets) socket.destroy();
    await isClosed;
    this.readingTime.close();
  }

  /** Number of further peers that are allowed. */
  private get room(): number {
    return this.settings.limits.maxPeers - this.table.peers.length;
  }

  private beginDiscovery(datagrams: DatagramPort | undefined): PeerDiscovery | undefined {
    const { discovery } = this.settings;
    if (discovery === undefined || datagrams === undefined) return undefined;
    return new PeerDiscovery(
      { ...discovery, privateKey: this.settings.key.privateKey, port: this.advertisedPort },
      {
        ...this.parts,
        datagrams,
        isPermitted: (node, from) => this.isHeard(node, from),
        wantsPeers: () => this.room > 0,
        onNode: (node) => {
          this.discovered.offer(node);
          this.dialer.reschedule();
        },
      },
    );
  }

  private isPermitted(node: NodeAddress, from: Opener): boolean {
    return !this.banList.isDenied(node.nodeId) && (this.parts.isPermitted?.(node, from) ?? true);
  }

  private isHeard(node: NodeAddress, from: Opener): boolean {
    const { isHeard } = this.parts;
    if (isHeard === undefined) return this.isPermitted(node, from);
    return !this.banList.isDenied(node.nodeId) && isHeard(node, from);
  }

  private isTrusted(nodeId: Uint8Array): boolean {
    return this.maintained.has(nodeId) || this.parts.isValidator?.(addressOfPublicKey(nodeId)) === true;
  }

  private accept(socket: Socket): void {
    const { traffic, logger } = this.parts;
    const remote = { host: plainHost(socket.remoteAddress ?? ""), port: socket.remotePort ?? 0 };
    const isFull = this.sockets.size >= this.settings.limits.maxPeers + MAX_SPARE_SOCKETS;
    if (this.isClosing || isFull || !this.pending.admit()) {
      const cause = isFull ? "sockets" : "rate";
      traffic?.inboundRefused(cause);
      logger.often("debug", "connection refused", () => ({ ...remote, cause }));
      socket.destroy();
      return;
    }
    // A silent connection must not block others.
    const surplus = this.pending.takeSurplus();
    if (surplus !== undefined) {
      traffic?.inboundRefused("crowded");
      surplus.destroy("timeout", "dropped in favour of newer connections");
    }
    this.pending.add(this.adopt(socket, { remote }));
  }

  private dial({ nodeId, host, tcpPort }: NodeAddress): void {
    const remote = { host, port: tcpPort };
    this.parts.logger.often("trace", "dialing a node", () => ({ ...remote, nodeId: toHex(nodeId) }));
    this.adopt(openSocket(remote), { remote, remoteId: nodeId });
  }

  private adopt(
    socket: Socket,
    { remote, remoteId }: { readonly remote: Endpoint; readonly remoteId?: Uint8Array },
  ): Connection {
    const { table, pending, sockets, readingTime, bufferBudget } = this;
    const { clock, traffic } = this.parts;
    sockets.add(socket);
    const connection: Connection = new Connection(
      { own: this.settings.key, hello: this.hello, remote, ...(remoteId && { remoteId }) },
      {
        socket,
        clock,
        read: (nodeId, read) => readingTime.read(nodeId, read),
        bufferBudget,
        isTrusted: (nodeId) => this.isTrusted(nodeId),
      },
      {
        opened(hello) {
          pending.remove(connection);
          table.open(connection, hello);
        },
        message: (id, payload) => table.receive(connection, id, payload),
        base: (direction, id) => traffic?.passed(baseMessage(direction, id)),
        broken: () => traffic?.inputRefused("badFrame", 1),
        ended(disconnect) {
          if (pending.remove(connection)) traffic?.inboundRefused("handshake");
          table.end(connection, disconnect);
        },
        released: () => sockets.delete(socket),
      },
    );
    return connection;
  }
}

/** The end of a dial that was not made. */
const NOT_PERMITTED: Disconnect = { reason: "unknown", by: "us", detail: "it is not permitted" };

/** Flushes pending writes; does not wait for a peer that does not read. */
async function flush(sockets: readonly Socket[]): Promise<void> {
  const connected = sockets.filter(({ connecting, destroyed }) => !connecting && !destroyed);
  await Promise.all(
    connected.map(
      (socket) =>
        new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, FLUSH_TIMEOUT_MS);
          socket.once("close", () => {
            clearTimeout(timer);
            resolve();
          });
          socket.end();
        }),
    ),
  );
}

const FLUSH_TIMEOUT_MS = 500;
