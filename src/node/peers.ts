import { BlockList, isIPv6 } from "node:net";
import { isOurAddress } from "../config/crossChecks.ts";
import { parseEnode } from "../config/enode.ts";
import type { Settings } from "../config/settings.ts";
import type { NodeAddress } from "../network/dialer.ts";
import type { Network } from "../network/network.ts";
import type { SubProtocol } from "../network/subProtocol.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Permissions } from "../permissioning/permissions.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import { equalBytes } from "../primitives/hex.ts";
import { ok, type Result } from "../primitives/result.ts";
import type { PeerToPeerFacts } from "../rpc/ports.ts";
import { createPeerCounters } from "./metrics/networkMetrics.ts";
import type { NodeKey } from "./nodeKey.ts";
import { dialAddress, type FindPeerHead, peerToPeerFacts } from "./peerFacts.ts";

/** The peer-to-peer network and its state for JSON-RPC. */
export interface Peers {
  readonly facts: PeerToPeerFacts;
  readonly network: Network;
}

export interface PeersParts {
  readonly key: NodeKey;
  readonly protocols: readonly SubProtocol[];
  readonly permissions: Permissions;
  readonly isValidator: (address: Address) => boolean;
  readonly headOf: FindPeerHead;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Undefined when metrics are off. */
  readonly metrics: Metrics | undefined;
}

/** Listens for peers and dials the maintained ones; undefined when --p2p-enabled is false. */
export async function openPeers(
  { peers, maxPeers, clientVersion, permissions: { allowsHostNames } }: Settings,
  { key, protocols, permissions, isValidator, headOf, clock, logger, metrics }: PeersParts,
): Promise<Result<Peers | undefined, "addressInUse" | "cannotListen">> {
  const counters = createPeerCounters(metrics);
  if (peers === undefined) return ok(undefined);
  // Loading the network takes a fifth of a second, which a node without peers saves.
  const { createNetwork } = await import("../network/network.ts");
  const isInside = subnetCheck(peers.subnets);
  const isPermitted = (node: NodeAddress): boolean => isInside(node.host) && isListed(node, permissions);
  const created = await createNetwork(
    {
      key: { privateKey: key.privateKey, nodeId: key.publicKey },
      clientId: clientVersion,
      host: peers.host,
      port: peers.port,
      limits: { maxPeers, maxInbound: peers.maxInbound },
      maintained: peers.maintained.flatMap((node) => dialAddress(node) ?? []),
      bannedIds: peers.bannedIds,
    },
    {
      protocols,
      clock,
      chance: Math.random,
      logger,
      isPermitted,
      isOwnAddress: (node, { port }) =>
        node.tcpPort === port && (node.host === peers.advertisedHost || isOurAddress(node.host)),
      isValidator,
      traffic: counters.traffic,
      onPeerConnected: counters.connected,
      onPeerDisconnected: counters.disconnected,
    },
  );
  if (!created.ok) return created;
  if (peers.maintained.length === 0) {
    logger.warn(
      {},
      "no peers are configured, and this version has no discovery: list them in static-nodes.json or with --bootnodes",
    );
  }
  return ok({
    network: created.value,
    facts: peerToPeerFacts(created.value, { ...peers, allowsHostNames }, { nodeId: key.publicKey, headOf }),
  });
}

/**
 * Compares node id, address and listening port, but not the discovery port (p2p.md#connection-policy).
 */
function isListed({ nodeId, host, tcpPort }: NodeAddress, { nodes }: Permissions): boolean {
  if (nodes === undefined) return true;
  return nodes.items.some((item) => {
    const listed = parseEnode(item);
    if (!listed.ok) return false;
    const { value } = listed;
    return equalBytes(value.nodeId, nodeId) && value.host === host && value.tcpPort === tcpPort;
  });
}

function subnetCheck(subnets: readonly string[]): (host: string) => boolean {
  if (subnets.length === 0) return () => true;
  const inside = new BlockList();
  for (const subnet of subnets) {
    const [address = "", bits = ""] = subnet.split("/");
    inside.addSubnet(address, Number(bits), isIPv6(address) ? "ipv6" : "ipv4");
  }
  return (host) => inside.check(host, isIPv6(host) ? "ipv6" : "ipv4");
}
