import type { Bonds } from "./bonds.ts";
import { type Endpoint, isRelayable } from "./endpoint.ts";
import type { NodeRecord } from "./nodeRecord.ts";
import type { NodeTable } from "./nodeTable.ts";
import { MAX_NEIGHBORS, type NodeContact, type Packet, type ReceivedPacket } from "./packets.ts";

export interface ResponderParts {
  readonly bonds: Bonds;
  readonly table: Pick<NodeTable, "closest">;
  readonly record: () => NodeRecord;
  /** Seconds since 1970. */
  readonly now: () => bigint;
  /** When a packet sent now expires, seconds since 1970. */
  readonly expiration: () => bigint;
  readonly send: (packet: Packet, to: Endpoint) => void;
  /** Called when a node has pinged us, and was answered. */
  readonly onPinged: (node: NodeContact) => void;
}

/** Whether a packet was answered, or why not. */
type ResponseOutcome = "answered" | "expired" | "unproven" | "unrequested";

/** Answers another node's request (p2p.md#bonding). `from` has the TCP port 0. */
export function respond(
  { packet, hash, nodeId }: ReceivedPacket,
  from: Endpoint,
  parts: ResponderParts,
): ResponseOutcome {
  if (packet.kind === "ping") {
    if (hasExpired(packet, parts.now())) return "expired";
    const node = pinger(packet, from, nodeId);
    const { sequence: recordSequence } = parts.record();
    const to = { ...from, tcpPort: node.tcpPort };
    parts.send({ kind: "pong", to, pingHash: hash, expiration: parts.expiration(), recordSequence }, from);
    parts.bonds.notePinged(nodeId, from.ip, node.tcpPort);
    parts.onPinged(node);
    return "answered";
  }
  if (packet.kind !== "findNode" && packet.kind !== "recordRequest") return "unrequested";
  if (hasExpired(packet, parts.now())) return "expired";
  if (!parts.bonds.isProven(nodeId, from.ip)) return "unproven";
  if (packet.kind === "recordRequest") {
    parts.send({ kind: "recordResponse", requestHash: hash, record: parts.record() }, from);
    return "answered";
  }
  const nodes = parts.table
    .closest(packet.target, 2 * MAX_NEIGHBORS)
    .filter(({ ip }) => isRelayable(ip, from.ip))
    .slice(0, MAX_NEIGHBORS);
  parts.send({ kind: "neighbors", nodes, expiration: parts.expiration() }, from);
  return "answered";
}

/** The sender of a ping. Besu takes the TCP port from the ping, too. Only the address of the datagram can be proved. */
export function pinger(
  ping: Extract<Packet, { kind: "ping" }>,
  from: Endpoint,
  nodeId: Uint8Array,
): NodeContact {
  return { ...from, tcpPort: ping.from?.tcpPort ?? from.udpPort, nodeId };
}

/**
 * Whether a packet has expired. The time is a signed number of 64 bits, as in go-ethereum: a larger one counts as long past.
 */
function hasExpired({ expiration }: { readonly expiration: bigint }, now: bigint): boolean {
  return BigInt.asIntN(64, expiration) < now;
}
