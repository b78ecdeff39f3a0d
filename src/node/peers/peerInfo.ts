import { type Enode, type HostNames, isNamed, parseEnode, showEnode } from "../../config/enode.ts";
import type { NodeAddress } from "../../network/dialer.ts";
import { ipEndpointOf } from "../../network/discovery/endpoint.ts";
import type { NamedPeer, Network } from "../../network/network.ts";
import type { NodeEndpoint } from "../../permissioning/contract/nodePayload.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import type { EnodeErrorCode, PeerHead, PeerInfo, PeerToPeer } from "../../rpc/core/coreParts.ts";
import { addressOf } from "./advertisedAddress.ts";

/** Best block announced by a peer, by its node id. */
type FindPeerHead = (nodeId: Uint8Array) => PeerHead | undefined;

interface PeerInfoSettings {
  /** Address in our enode URL. */
  readonly advertisedHost: string;
  /** Which host names may name a node. */
  readonly hostNames: HostNames;
}

/** The network's state for admin_… and net_… methods. */
export function peerToPeerInfo(
  network: Network,
  { advertisedHost, hostNames }: PeerInfoSettings,
  { nodeId, headOf }: { readonly nodeId: Uint8Array; readonly headOf: FindPeerHead },
): PeerToPeer {
  const { endpoint, advertisedPort } = network;
  const discoveryPort = network.discoveryPort === undefined ? undefined : advertisedPort;
  const port = endpoint === undefined ? undefined : advertisedPort;
  const advertised = { host: advertisedHost, port, discoveryPort };
  return {
    isListening: endpoint !== undefined,
    get peerCount() {
      return network.peerCount;
    },
    nodeId,
    advertised,
    enode: showEnode({ nodeId, host: advertised.host, tcpPort: advertised.port, udpPort: discoveryPort }),
    get peers() {
      return network.peers.filter(({ isReady }) => isReady).map((peer) => factsOfPeer(peer, headOf));
    },
    ...peerCommands(network, { hostNames }),
  };
}

/** Commands of operators, which name nodes by enode URL. */
export function peerCommands(
  network: Pick<Network, "addPeer" | "removePeer">,
  { hostNames }: Pick<PeerInfoSettings, "hostNames">,
): Pick<PeerToPeer, "addPeer" | "removePeer"> {
  return {
    async addPeer(url) {
      const node = await readNode(url, hostNames);
      return node.ok ? ok(network.addPeer(node.value)) : node;
    },
    async removePeer(url) {
      const node = await readNode(url, hostNames);
      return node.ok ? ok(network.removePeer(node.value.nodeId)) : node;
    },
  };
}

/** Address to dial a node; undefined when it does not listen. */
export function dialAddress({ nodeId, host, tcpPort, udpPort = 0 }: Enode): NodeAddress | undefined {
  return tcpPort === undefined ? undefined : { nodeId, host, tcpPort, udpPort };
}

/** Where those of the nodes listen that are named by an IP address. */
export function ipEndpointsOf(nodes: readonly Enode[]): readonly NodeEndpoint[] {
  return nodes.flatMap((node) => dialAddress(node) ?? []).flatMap((address) => ipEndpointOf(address) ?? []);
}

async function readNode(url: string, hostNames: HostNames): Promise<Result<NodeAddress, EnodeErrorCode>> {
  const parsed = parseEnode(url);
  if (!parsed.ok) {
    const [, nodeId = ""] = /^enode:\/\/([^@]+)@/i.exec(url) ?? [];
    const isBadId = nodeId !== "" && !/^[0-9a-fA-F]{128}$/.test(nodeId);
    return fail("caller", isBadId ? "invalidNodeId" : "malformed", parsed.error.message);
  }
  if (isNamed(parsed.value)) {
    if (hostNames === "none") return fail("caller", "namedHost", "host names are not allowed");
    const isKnown = hostNames === "any" || (await addressOf(parsed.value.host)) !== undefined;
    if (!isKnown) return fail("caller", "unknownHost", "no name server knows the host name");
  }
  const node = dialAddress(parsed.value);
  return node === undefined ? fail("caller", "malformed", "the node does not listen") : ok(node);
}

/** The enode URL names the node where it was dialed or found (p2p.md#enode-urls). */
function factsOfPeer({ nodeId, hello, remote, local, named }: NamedPeer, headOf: FindPeerHead): PeerInfo {
  const { host, tcpPort, udpPort = tcpPort } = named;
  return {
    nodeId,
    enode: showEnode({ nodeId, host, tcpPort, udpPort: udpPort === 0 ? undefined : udpPort }),
    clientId: hello.clientId,
    p2pVersion: hello.p2pVersion,
    capabilities: hello.capabilities.map(({ name, version }) => `${name}/${version}`),
    listenPort: hello.listenPort,
    local,
    remote,
    eth: headOf(nodeId),
  };
}
