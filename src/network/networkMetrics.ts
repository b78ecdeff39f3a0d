import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { PacketKind } from "./discovery/packets.ts";
import type { Disconnect, DisconnectReason } from "./rlpx/disconnectReason.ts";
import type { InputRefusal, Traffic } from "./traffic.ts";

/** Declares the gauges of peers (metrics.md#peers-and-network), including Besu's names that stay at zero because dashboards expect them. */
export function declarePeerMetrics(
  metrics: Metrics,
  { maxPeers, peerCount }: { readonly maxPeers: number; peerCount(): number },
): void {
  const count = "Peers that are connected and ready";
  const limit = "Peer limit";
  metrics.gauge({ category: "ETHEREUM", name: "peer_count", help: count }, peerCount);
  metrics.gauge({ category: "PEERS", name: "peer_count_current", help: count }, peerCount);
  metrics.gauge({ category: "ETHEREUM", name: "peer_limit", help: limit }, () => maxPeers);
  metrics.gauge({ category: "NETWORK", name: "peers_limit", help: limit }, () => maxPeers);
  metrics.gauge(
    { category: "PEERS", name: "pending_peer_requests_current", help: "Requests waiting for a free peer" },
    () => 0,
  );
}

/** Counters of connections and messages; they exist even when peer-to-peer networking is off. */
export interface PeerCounters {
  readonly connected: () => void;
  readonly disconnected: (disconnect: Disconnect) => void;
  /** Undefined when metrics are off. */
  readonly traffic: Traffic | undefined;
  /** A peer did something in vain, so many times. */
  readonly refused: (reason: InputRefusal, count: number) => void;
}

export function createPeerCounters(metrics: Metrics | undefined, logger: Logger): PeerCounters {
  const connected = metrics?.counter({
    category: "PEERS",
    name: "connected_total",
    help: "Connections to peers ever made",
  });
  const disconnected = metrics?.counter({
    category: "PEERS",
    name: "disconnected_total",
    help: "Connections to peers that ended",
    labels: ["initiator", "disconnectReason"],
  });
  const traffic = metrics && createTrafficCounters(metrics);
  return {
    traffic,
    refused(reason, count) {
      traffic?.inputRefused(reason, count);
      logger.often("debug", "input of a peer refused", () => ({ reason, count }));
    },
    connected: () => connected?.with().increment(),
    disconnected: ({ by, reason }) =>
      disconnected?.with(by === "them" ? "remote" : "local", REASON_LABELS[reason]).increment(),
  };
}

function createTrafficCounters(metrics: Metrics): Traffic {
  const messages = (direction: "inbound" | "outbound") =>
    metrics.counter({
      category: "NETWORK",
      name: `p2p_messages_${direction}`,
      help: `Peer-to-peer messages, ${direction}`,
      labels: ["protocol", "name", "code"],
    });
  const counters = { inbound: messages("inbound"), outbound: messages("outbound") };
  const refused = metrics.counter({
    category: "NETWORK",
    prefix: "p2p_",
    name: "inbound_refused_total",
    help: "Inbound connections that were refused, by reason",
    labels: ["reason"],
  });
  const input = metrics.counter({
    category: "NETWORK",
    prefix: "p2p_",
    name: "input_refused_total",
    help: "What connected peers did in vain or should not have done, by reason",
    labels: ["reason"],
  });
  const nodes = metrics.counter({
    category: "NETWORK",
    prefix: "p2p_",
    name: "nodes_refused_total",
    help: "Nodes that discovery did not take into its table, by reason",
    labels: ["reason"],
  });
  const packets = (direction: "inbound" | "outbound") =>
    metrics.counter({
      category: "NETWORK",
      name: `discovery_messages_${direction}`,
      help: `Discovery packets, ${direction}`,
      labels: ["name"],
    });
  const discovery = { inbound: packets("inbound"), outbound: packets("outbound") };
  const dropped = metrics.counter({
    category: "NETWORK",
    prefix: "p2p_",
    name: "datagrams_dropped_total",
    help: "Datagrams of discovery that were neither answered nor expected, by reason",
    labels: ["reason"],
  });
  return {
    passed: ({ direction, protocol, name, code }) =>
      counters[direction].with(protocol, name, code === undefined ? "" : String(code)).increment(),
    inboundRefused: (cause) => refused.with(cause).increment(),
    inputRefused: (reason, count) => input.with(reason).increment(count),
    nodeRefused: (reason, count) => nodes.with(reason).increment(count),
    discovered: (direction, kind) => discovery[direction].with(PACKET_LABELS[kind]).increment(),
    datagramDropped: (reason) => dropped.with(reason).increment(),
  };
}

/** Besu's constants for the packets of discovery. */
const PACKET_LABELS: Readonly<Record<PacketKind, string>> = {
  ping: "PING",
  pong: "PONG",
  findNode: "FIND_NEIGHBORS",
  neighbors: "NEIGHBORS",
  recordRequest: "ENR_REQUEST",
  recordResponse: "ENR_RESPONSE",
};

/** Besu's constants, which dashboards use as labels. */
const REASON_LABELS: Readonly<Record<DisconnectReason, string>> = {
  unknown: "UNKNOWN",
  requested: "REQUESTED",
  tcpError: "TCP_SUBSYSTEM_ERROR",
  breachOfProtocol: "BREACH_OF_PROTOCOL",
  uselessPeer: "USELESS_PEER",
  tooManyPeers: "TOO_MANY_PEERS",
  alreadyConnected: "ALREADY_CONNECTED",
  incompatibleVersion: "INCOMPATIBLE_P2P_PROTOCOL_VERSION",
  nullIdentity: "NULL_NODE_ID",
  clientQuitting: "CLIENT_QUITTING",
  unexpectedIdentity: "UNEXPECTED_ID",
  self: "LOCAL_IDENTITY",
  timeout: "TIMEOUT",
  subprotocolTriggered: "SUBPROTOCOL_TRIGGERED",
};
