import type { Disconnect } from "../../network/rlpx/connection.ts";
import type { DisconnectReason } from "../../network/rlpx/disconnectReason.ts";
import type { Traffic } from "../../network/traffic.ts";
import type { Metrics } from "../../observability/registry.ts";
import type { SyncStatus } from "../../rpc/ports.ts";

export interface NetworkFacts {
  readonly maxPeers: number;
  headNumber(): bigint;
  /** Undefined when no better chain is being fetched. */
  syncStatus(): SyncStatus | undefined;
  peerCount(): number;
}

/**
 * What peers and synchronization tell (metrics.md#peers-and-network). As long as there are none, this is the
 * one place that says so, with the names and zeros that dashboards expect; the counters then go to the code
 * that connects, disconnects, sends and receives.
 */
export function declareNetworkMetrics(metrics: Metrics, facts: NetworkFacts): void {
  showSync(metrics, facts);
  showPeers(metrics, facts);
  metrics.counter({
    category: "TRANSACTION_POOL",
    name: "messages_expired_total",
    help: "Messages about transactions that were too old when their turn came",
    labels: ["message"],
  });
  metrics.counter({
    category: "TRANSACTION_POOL",
    name: "remote_transactions_already_seen_total",
    help: "Transactions that peers told of again",
    labels: ["message"],
  });
  for (const direction of ["inbound", "outbound"]) {
    metrics.counter({
      category: "NETWORK",
      name: `discovery_messages_${direction}`,
      help: `Discovery packets, ${direction}`,
      labels: ["name"],
    });
  }
}

/** Counts peers as they come and go, and what they say; there are such counters also where there are no peers. */
export function createPeerCounters(metrics: Metrics | undefined): {
  readonly connected: () => void;
  readonly parted: (disconnect: Disconnect) => void;
  readonly traffic: Traffic | undefined;
} {
  const connected = metrics?.counter({
    category: "PEERS",
    name: "connected_total",
    help: "Connections to peers ever made",
  });
  const parted = metrics?.counter({
    category: "PEERS",
    name: "disconnected_total",
    help: "Connections to peers that ended",
    labels: ["initiator", "disconnectReason"],
  });
  return {
    traffic: metrics && createTrafficCounters(metrics),
    connected: () => connected?.with().increment(),
    parted: ({ by, reason }) =>
      parted?.with(by === "them" ? "remote" : "local", REASON_LABELS[reason]).increment(),
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
    help: "Connections from others that were not let in, by cause",
    labels: ["reason"],
  });
  return {
    passed: ({ direction, protocol, name, code }) =>
      counters[direction].with(protocol, name, code === undefined ? "" : String(code)).increment(),
    inboundRefused: (cause) => refused.with(cause).increment(),
  };
}

/** Besu's constants, by which dashboards tell reasons apart. */
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

function showSync(metrics: Metrics, { headNumber, syncStatus }: NetworkFacts): void {
  const bestKnown = (): number => Number(syncStatus()?.highestBlock ?? headNumber());
  const help = "Number of the highest block that is known of";
  metrics.gauge({ category: "ETHEREUM", name: "best_known_block_number", help }, bestKnown);
  metrics.gauge({ category: "SYNCHRONIZER", name: "best_known_block", help }, bestKnown);
  metrics.gauge({ category: "SYNCHRONIZER", name: "in_sync", help: "1 when in sync, 0 while behind" }, () =>
    syncStatus() === undefined ? 1 : 0,
  );
  metrics.gauge(
    {
      category: "SYNCHRONIZER",
      name: "fast_sync_pivot_block_current",
      help: "Always 0: every block is executed",
    },
    () => 0,
  );
  metrics.summary({
    category: "SYNCHRONIZER",
    name: "task",
    help: "Time that tasks of synchronization take, seconds",
    labels: ["taskName"],
  });
}

function showPeers(metrics: Metrics, { maxPeers, peerCount }: NetworkFacts): void {
  const count = "Peers that are connected and ready";
  const limit = "Most peers at a time";
  metrics.gauge({ category: "ETHEREUM", name: "peer_count", help: count }, peerCount);
  metrics.gauge({ category: "PEERS", name: "peer_count_current", help: count }, peerCount);
  metrics.gauge({ category: "ETHEREUM", name: "peer_limit", help: limit }, () => maxPeers);
  metrics.gauge({ category: "NETWORK", name: "peers_limit", help: limit }, () => maxPeers);
  metrics.gauge(
    { category: "PEERS", name: "pending_peer_requests_current", help: "Requests waiting for a free peer" },
    () => 0,
  );
}
