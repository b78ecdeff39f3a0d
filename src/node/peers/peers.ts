import { isIP, isIPv6 } from "node:net";
import { isOurAddress } from "../../config/crossChecks.ts";
import { type Enode, isNamed } from "../../config/enode.ts";
import type { PeerSettings, Settings } from "../../config/settings.ts";
import type { NodeAddress, Opener } from "../../network/dialer.ts";
import { ipEndpointOf } from "../../network/discovery/endpoint.ts";
import { KnownNodesFile, keepKnownNodes } from "../../network/discovery/knownNodes.ts";
import type { NamedNode } from "../../network/discovery/namedNodes.ts";
import type { NodeContact } from "../../network/discovery/packets.ts";
import type { PeerForks } from "../../network/eth/protocol.ts";
import type { Network } from "../../network/network.ts";
import type { PeerCounters } from "../../network/networkMetrics.ts";
import type { DiscoverySearch } from "../../network/peerDiscovery.ts";
import type { OnSharedKey } from "../../network/sharedKey.ts";
import { subnetCheck } from "../../network/subnets.ts";
import type { SubProtocol } from "../../network/subProtocol.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import type { NodePermission, NodeRequester } from "../../permissioning/contract/nodeContract.ts";
import type { NodeEndpoint } from "../../permissioning/contract/nodePayload.ts";
import type { NodePermissions } from "../../permissioning/contract/nodePermissions.ts";
import type { Permissions } from "../../permissioning/permissions.ts";
import type { Address } from "../../primitives/address.ts";
import { type Clock, systemClock } from "../../primitives/clock.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import type { PeerHead, PeerToPeer } from "../../rpc/core/coreParts.ts";
import type { NodeKey } from "../keys/nodeKey.ts";
import {
  type AdvertisedAddress,
  addressOf,
  findAdvertisedAddress,
  reportAddress,
} from "./advertisedAddress.ts";
import { listCheck, type OpenNodePermissions } from "./nodePermissioning.ts";
import { dialAddress, ipEndpointsOf, peerToPeerInfo } from "./peerInfo.ts";

/** The peer-to-peer network and its state for JSON-RPC. */
export interface Peers {
  readonly facts: PeerToPeer;
  readonly network: Network;
  /** Undefined where no contract is asked about nodes. */
  readonly byContract: NodePermissions | undefined;
  close(): Promise<void>;
}

interface PeersParts {
  readonly key: NodeKey;
  readonly protocols: readonly SubProtocol[];
  readonly permissions: Permissions;
  /** Makes the permissions by contract; undefined where no contract is asked. */
  readonly openNodePermissions: OpenNodePermissions | undefined;
  readonly isValidator: (address: Address) => boolean;
  /** Best block announced by a peer, by its node id. */
  readonly headOf: (nodeId: Uint8Array) => PeerHead | undefined;
  readonly forks: PeerForks;
  /** File of the nodes that were found. */
  readonly knownNodesFile: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
  readonly counters: PeerCounters;
  /** Two nodes use the key of this address. */
  readonly onSharedKey: OnSharedKey;
}

/** Listens for peers and dials the maintained ones; undefined when --p2p-enabled is false. */
export async function openPeers(
  { peers, maxPeers, clientVersion, isDevelopmentNetwork, permissions: { hostNames } }: Settings,
  {
    key,
    protocols,
    permissions,
    openNodePermissions,
    isValidator,
    headOf,
    forks,
    knownNodesFile,
    clock,
    logger,
    metrics,
    counters,
    onSharedKey,
  }: PeersParts,
): Promise<Result<Peers | undefined, "addressInUse" | "cannotListen" | "unusablePermissions">> {
  if (peers === undefined) return ok(undefined);
  // Loading the network takes a fifth of a second, which a node without peers saves.
  const { createNetwork } = await import("../../network/network.ts");
  const knownNodes = new KnownNodesFile(knownNodesFile);
  const isInside = subnetCheck(peers.subnets);
  const isListed = listCheck(permissions, metrics);
  const address = await findAdvertisedAddress(peers, { logger });
  const ownIp = openNodePermissions && (await ipOf(address.host, peers.host));
  if (openNodePermissions !== undefined && ownIp === undefined)
    return fail("local", "unusablePermissions", noIp(address));
  let network: Network | undefined;
  let own: NodeEndpoint | undefined;
  const byContract = openNodePermissions?.({
    own: () => own,
    bootnodes: ipEndpointsOf(peers.discovery?.bootnodes ?? []),
    isListed,
    connected: () => network?.peers.map(({ nodeId }) => nodeId) ?? [],
    review: () => network?.review(),
  });
  const judge = (node: NodeAddress, from: Opener, requester: NodeRequester): NodePermission => {
    if (!isInside(node.host)) return "denied";
    if (byContract === undefined) return isListed(node) ? "permitted" : "denied";
    const endpoint = ipEndpointOf(node);
    return endpoint === undefined ? "denied" : byContract.judge(endpoint, from, requester);
  };
  const created = await createNetwork(
    {
      key: { privateKey: key.privateKey, nodeId: key.publicKey },
      clientId: clientVersion,
      host: peers.host,
      port: peers.port,
      advertisedPortOf: address.portOf,
      limits: { maxPeers, maxInbound: peers.maxInbound },
      hasRandomPriority: peers.hasRandomPriority,
      maintained: peers.maintained.flatMap((node) => dialAddress(node) ?? []),
      bannedIds: peers.bannedIds,
      discovery: discoverySearch(peers.discovery, { address, knownNodes, forks, listensOn: peers.host }),
    },
    {
      protocols,
      clock,
      chance: Math.random,
      logger,
      onListening({ port }) {
        if (ownIp === undefined) return;
        own = ipEndpointOf({ nodeId: key.publicKey, host: ownIp, tcpPort: address.portOf(port) });
      },
      isPermitted: (node, from) => judge(node, from, "newcomer") === "permitted",
      isHeard: (node, from) => judge(node, from, "datagram") === "permitted",
      mayStay: (node, from) => judge(node, from, "peer") !== "denied",
      isOwnAddress: (node, { port }) =>
        (node.tcpPort === port && isOurAddress(node.host)) ||
        (node.tcpPort === address.portOf(port) && node.host === address.host),
      isValidator,
      traffic: counters.traffic,
      onSharedKey,
      onPeerConnected: counters.connected,
      onPeerDisconnected: counters.disconnected,
    },
  );
  if (!created.ok) return created;
  network = created.value;
  permissions.nodes?.whenChanged(() => network?.review());
  const advertised = { advertisedHost: address.host, hostNames };
  const facts = peerToPeerInfo(network, advertised, { nodeId: key.publicKey, headOf });
  warnOfNoPeers(peers, logger);
  const isFound = peers.discovery !== undefined && !isDevelopmentNetwork;
  if (facts.enode !== undefined)
    reportAddress(facts.enode, { ...address, listensOn: peers.host, isFound, logger });
  return ok({ network, facts, byContract, close: closing(network, peers.discovery && knownNodes, clock) });
}

/** The IP address of a host that may be a name; undefined when it has none. `listensOn` is the address of the socket. */
async function ipOf(host: string, listensOn: string): Promise<string | undefined> {
  // A socket of IPv4 sends nothing to addresses of IPv6.
  return isIP(host) === 0 ? await addressOf(host, isIPv6(listensOn) ? 0 : 4) : host;
}

function noIp({ host }: AdvertisedAddress): string {
  return `Error: the host name ${host} (--p2p-host) has no IP address. A contract that decides which nodes may connect is asked about this node by its IP address.`;
}

function discoverySearch(
  settings: PeerSettings["discovery"],
  parts: {
    readonly address: AdvertisedAddress;
    readonly knownNodes: KnownNodesFile;
    readonly forks: PeerForks;
    /** Address of the socket. */
    readonly listensOn: string;
  },
): DiscoverySearch | undefined {
  if (settings === undefined) return undefined;
  const { address, knownNodes, forks } = parts;
  const known = knownNodes.read();
  return {
    advertisedIp: isIP(address.host) === 0 ? UNSPECIFIED_IP : address.host,
    bootnodes: [...settings.bootnodes.flatMap(contactsOf), ...known],
    provenIds: known.filter(({ isProven }) => isProven).map(({ nodeId }) => nodeId),
    namedBootnodes: settings.bootnodes.flatMap(namedContactsOf),
    resolve: (host) => ipOf(host, parts.listensOn),
    dnsList: settings.dnsList,
    forkId: forks.own,
    isCompatible: (forkId) => !settings.checksForkId || forks.isCompatible(forkId),
    epochMs: () => systemClock.nowMs(),
  };
}

/** Keeps the found nodes in the file, if there is one, until the network is closed. */
function closing(
  network: Network,
  knownNodes: KnownNodesFile | undefined,
  clock: Clock,
): () => Promise<void> {
  const keeper = knownNodes && keepKnownNodes(knownNodes, { nodes: () => network.discoveredNodes, clock });
  return async () => {
    keeper?.close();
    await network.close();
  };
}

function warnOfNoPeers({ maintained, discovery }: PeerSettings, logger: Logger): void {
  if (maintained.length > 0 || discovery?.dnsList !== undefined) return;
  logger.warn(
    {},
    discovery === undefined
      ? "no peers are configured, and discovery is off: list them in static-nodes.json, or others must connect to this node"
      : "no bootnodes are configured: it has peers only once others connect to it, or once --bootnodes names some",
  );
}

/** Where a bootnode answers; none when it is named by a host name, or takes no part in discovery. */
function contactsOf(node: Enode): readonly NodeContact[] {
  return isNamed(node) ? [] : portsOf(node).map((ports) => ({ ...ports, ip: node.host }));
}

function namedContactsOf(node: Enode): readonly NamedNode[] {
  return isNamed(node) ? portsOf(node).map((ports) => ({ ...ports, host: node.host })) : [];
}

function portsOf({ nodeId, tcpPort, udpPort }: Enode): readonly Omit<NodeContact, "ip">[] {
  return udpPort === undefined ? [] : [{ nodeId, udpPort, tcpPort: tcpPort ?? 0 }];
}

/** Others see where this node's datagrams come from. */
const UNSPECIFIED_IP = "0.0.0.0";
