import { createServer, connect as openSocket, type Socket } from "node:net";
import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import { toHex } from "../primitives/hex.ts";
import { createIngressBudget } from "../primitives/ingressBudget.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import { addressOfPublicKey } from "../primitives/secp256k1.ts";
import type { PeerLimits } from "./admission.ts";
import { createBanList, type RememberedDisconnect } from "./banList.ts";
import { createDialer, type NodeAddress } from "./dialer.ts";
import {
  CONNECTION_BURST,
  CONNECTIONS_PER_SECOND,
  MAX_PENDING_CONNECTIONS,
  MAX_SPARE_SOCKETS,
  UNTRUSTED_BURST_MS,
  UNTRUSTED_TIME_SHARE,
} from "./limits.ts";
import { createPeerTable, type PeerView } from "./peerTable.ts";
import { createBufferBudget } from "./rlpx/bufferBudget.ts";
import { type Connection, createConnection, plainHost, type Remote } from "./rlpx/connection.ts";
import type { Disconnect } from "./rlpx/disconnectReason.ts";
import type { OwnIdentity } from "./rlpx/handshake.ts";
import { ownHello } from "./rlpx/hello.ts";
import type { PeerShare, SubProtocol } from "./subProtocol.ts";
import { baseMessage, type Traffic } from "./traffic.ts";
import { createUnreachablePeers } from "./unreachablePeers.ts";

/**
 * The node's connections to its peers (p2p.md#connection-policy).
 *
 *     sockets ── connection.ts: RLPx, Hello, keep-alive, limits ──> peerTable.ts: who may stay ──> sub-protocols
 *        └ inbound: accepted here     └ outbound: when dialer.ts says        └ banList.ts: who is banned
 *
 * Invariants: whatever a peer sends can only end its own connection, with a reason that is remembered; every resource
 * that a peer can make grow has a named bound in limits.ts; a node id has one lasting connection. Not done here: the
 * meaning of messages (sub-protocols such as ibf/ and eth/), and peer discovery (there is none yet).
 */
export interface Network {
  /** Where peers reach this node; undefined when it does not listen. */
  readonly endpoint: Remote | undefined;
  /** Peers whose protocols have all completed their handshake. */
  readonly peerCount: number;
  readonly peers: readonly PeerView[];
  /** Past disconnects, the latest last. */
  readonly disconnects: readonly RememberedDisconnect[];
  /** Stays connected with the node from now on; false when it already did, or the node is this one. */
  addPeer(node: NodeAddress): boolean;
  /** Disconnects the node and stops redialing it; false when it was not a maintained peer. */
  removePeer(nodeId: Uint8Array): boolean;
  /** Disconnects peers that the operator's lists no longer permit. */
  review(): void;
  /** Sends Disconnect to all peers, and closes every socket. */
  close(): Promise<void>;
}

export interface NetworkSettings {
  readonly key: OwnIdentity;
  readonly clientId: string;
  /** Listen address; port 0 picks any free port. */
  readonly host: string;
  readonly port: number;
  readonly limits: PeerLimits;
  /** Nodes to stay connected with; they are admitted beyond the limits and never denied. */
  readonly maintained: readonly NodeAddress[];
  readonly bannedIds: readonly Uint8Array[];
}

export interface NetworkParts {
  readonly protocols: readonly SubProtocol[];
  readonly clock: Clock;
  /** 0 to 1. */
  readonly chance: () => number;
  readonly logger: Logger;
  /** Whether the operator's lists permit this node; the port is the one that it listens on. */
  readonly isPermitted?: (node: NodeAddress) => boolean;
  /** Whether a node with this node's own id is this one, judging by its address. */
  readonly isOwnAddress?: (node: NodeAddress, endpoint: Remote) => boolean;
  /** Whether this address is a validator of the next block. */
  readonly isValidator?: (address: Address) => boolean;
  /** Traffic counters; absent for none. */
  readonly traffic?: Traffic | undefined;
  readonly onPeerConnected?: () => void;
  readonly onPeerDisconnected?: (disconnect: Disconnect) => void;
}

/** Fails when the address cannot be listened on. */
export async function createNetwork(
  settings: NetworkSettings,
  parts: NetworkParts,
): Promise<Result<Network, "addressInUse" | "cannotListen">> {
  const { clock, logger, traffic } = parts;
  const server = createServer();
  const listening = await listen(server, settings);
  if (!listening.ok) return listening;
  const endpoint = listening.value;
  const sockets = new Set<Socket>();
  /** Inbound connections before Hello, oldest first. */
  const pending = new Set<Connection>();
  const newConnections = createConnectionRateLimit(clock);
  const ingressBudget = createIngressBudget(clock, {
    share: UNTRUSTED_TIME_SHARE,
    burstMs: UNTRUSTED_BURST_MS,
  });
  const bufferBudget = createBufferBudget();
  let isClosing = false;

  const hello = ownHello({
    clientId: settings.clientId,
    capabilities: parts.protocols.map(({ name, version }) => ({ name, version })),
    listenPort: endpoint.port,
    nodeId: settings.key.nodeId,
  });
  const dialer = createDialer({ clock, chance: parts.chance, dial });
  const unreachablePeers = createUnreachablePeers({ clock, logger });
  const banList = createBanList({ bannedIds: settings.bannedIds, isMaintained: dialer.has }, clock.nowMs);
  const table = createPeerTable(
    { ownId: settings.key.nodeId, limits: settings.limits },
    { ...parts, dialer, banList, unreachablePeers, shareOf },
  );

  function accept(socket: Socket): void {
    const remote = { host: plainHost(socket.remoteAddress ?? ""), port: socket.remotePort ?? 0 };
    const isFull = sockets.size >= settings.limits.maxPeers + MAX_SPARE_SOCKETS;
    if (isClosing || isFull || !newConnections.take()) {
      traffic?.inboundRefused(isFull ? "sockets" : "rate");
      socket.destroy();
      return;
    }
    // A silent connection must not keep others out.
    const [oldest] = pending;
    if (oldest !== undefined && pending.size >= MAX_PENDING_CONNECTIONS) {
      pending.delete(oldest);
      traffic?.inboundRefused("crowded");
      oldest.destroy("timeout", "dropped in favour of newer connections");
    }
    pending.add(adopt(socket, { remote }));
  }

  function dial({ nodeId, host, tcpPort }: NodeAddress): void {
    if (banList.isDenied(nodeId)) {
      dialer.disconnected(nodeId, "breachOfProtocol", 0);
      return;
    }
    adopt(openSocket({ host, port: tcpPort }), { remote: { host, port: tcpPort }, remoteId: nodeId });
  }

  function adopt(
    socket: Socket,
    endpoint: { readonly remote: Remote; readonly remoteId?: Uint8Array },
  ): Connection {
    sockets.add(socket);
    const connection: Connection = createConnection(
      { own: settings.key, hello, ...endpoint },
      { socket, clock, read: readPortion, bufferBudget: bufferBudget, isTrusted },
      {
        opened(theirs) {
          pending.delete(connection);
          table.open(connection, theirs);
        },
        message: (id, payload) => table.receive(connection, id, payload),
        base: (direction, id) => traffic?.passed(baseMessage(direction, id)),
        ended(disconnect) {
          if (pending.delete(connection)) traffic?.inboundRefused("handshake");
          table.end(connection, disconnect);
        },
        released: () => sockets.delete(socket),
      },
    );
    return connection;
  }

  /** Input from maintained peers and validators does not wait behind that of untrusted peers. */
  function readPortion(nodeId: Uint8Array | undefined, read: () => void): boolean {
    if (nodeId === undefined || !isTrusted(nodeId)) return ingressBudget.take(read);
    read();
    return true;
  }

  function shareOf(nodeId: Uint8Array): PeerShare {
    const sender = toHex(nodeId);
    return {
      get isTrusted() {
        return isTrusted(nodeId);
      },
      take(work) {
        if (isTrusted(nodeId)) work();
        else ingressBudget.take(work, sender);
      },
      spend(durationMs) {
        if (!isTrusted(nodeId)) ingressBudget.spend(durationMs);
      },
    };
  }

  const isTrusted = (nodeId: Uint8Array): boolean =>
    dialer.has(nodeId) || parts.isValidator?.(addressOfPublicKey(nodeId)) === true;

  server.on("connection", accept);
  server.on("error", (error) => logger.warn({ error }, "error on the peer-to-peer port"));
  const isSelf = ({ nodeId }: NodeAddress): boolean => Buffer.compare(nodeId, settings.key.nodeId) === 0;
  function addPeer(node: NodeAddress): boolean {
    if (!isSelf(node)) {
      const isNew = dialer.add(node);
      if (isNew) unreachablePeers.track(node);
      return isNew;
    }
    if (parts.isOwnAddress?.(node, endpoint) === false)
      logger.warn(
        { host: node.host, port: node.tcpPort },
        "a configured peer has this node's own id, at an address that is not this one's: if another node runs " +
          "there, the two have one key, and two validators with one key can split the chain; give one of them a key of " +
          "its own (--node-private-key-file). If the address is this node's, say so with --p2p-host",
      );
    return false;
  }
  for (const node of settings.maintained) addPeer(node);
  logger.info({ ...endpoint, nodeId: toHex(settings.key.nodeId) }, "listening for peers");

  return ok({
    endpoint,
    get peerCount() {
      return table.readyCount;
    },
    get peers() {
      return table.peers;
    },
    get disconnects() {
      return banList.disconnects;
    },
    addPeer,
    removePeer(nodeId) {
      const wasMaintained = dialer.remove(nodeId);
      unreachablePeers.untrack(nodeId);
      if (wasMaintained) table.disconnectPeer(nodeId, "requested");
      return wasMaintained;
    },
    review: table.review,
    async close() {
      isClosing = true;
      dialer.stop();
      unreachablePeers.stop();
      const isClosed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const connection of pending) connection.destroy("clientQuitting", "this node is shutting down");
      table.disconnectAll("clientQuitting");
      await flush([...sockets]);
      for (const socket of sockets) socket.destroy();
      await isClosed;
      ingressBudget.close();
    },
  });
}

function listen(
  server: ReturnType<typeof createServer>,
  { host, port }: NetworkSettings,
): Promise<Result<Remote, "addressInUse" | "cannotListen">> {
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isInUse = error.code === "EADDRINUSE";
      resolve(
        err({
          code: isInUse ? "addressInUse" : "cannotListen",
          fault: "local",
          message: isInUse
            ? `Port ${port} on ${host} is in use by another program: choose another one with --p2p-port.`
            : `Peers cannot be listened for on ${host}:${port}: ${error.message}`,
        }),
      );
    });
    server.listen({ host, port }, () => {
      server.removeAllListeners("error");
      const address = server.address();
      resolve(ok({ host, port: typeof address === "object" && address !== null ? address.port : port }));
    });
  });
}

/** Token bucket: CONNECTIONS_PER_SECOND on average, CONNECTION_BURST at once for when many nodes start together. */
function createConnectionRateLimit(clock: Clock): { take(): boolean } {
  let tokens = CONNECTION_BURST;
  let filledMs = clock.nowMs();
  return {
    take() {
      const nowMs = clock.nowMs();
      const gained = (Math.max(nowMs - filledMs, 0) / 1000) * CONNECTIONS_PER_SECOND;
      tokens = Math.min(tokens + gained, CONNECTION_BURST);
      filledMs = nowMs;
      if (tokens < 1) return false;
      tokens--;
      return true;
    },
  };
}

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
