import type { ForkId } from "../chainspec/forkId.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import type { NodeAddress } from "./dialer.ts";
import type { DatagramPort } from "./discovery/datagramPort.ts";
import { Discovery } from "./discovery/discovery.ts";
import { DnsLists } from "./discovery/dnsLists.ts";
import { followNamedNodes, type NamedNode } from "./discovery/namedNodes.ts";
import { openNameServer } from "./discovery/nameServer.ts";
import type { NodeContact } from "./discovery/packets.ts";
import type { TreeUrl } from "./discovery/treeUrl.ts";
import type { Traffic } from "./traffic.ts";

/** How this node searches for others, and what it announces. */
export interface DiscoverySearch {
  /** IP address at which others reach this node. */
  readonly advertisedIp: string;
  /** Nodes to contact first: bootnodes, and those known from earlier runs. */
  readonly bootnodes: readonly NodeContact[];
  /** Nodes whose connections lasted in earlier runs: places are kept for them. */
  readonly provenIds?: readonly Uint8Array[];
  /** Bootnodes given by host names. */
  readonly namedBootnodes?: readonly NamedNode[];
  /** The IP address of a host name; undefined when it has none. */
  readonly resolve: (host: string) => Promise<string | undefined>;
  /** A list of nodes in DNS, read in addition. */
  readonly dnsList?: DnsListSource | undefined;
  readonly forkId: () => ForkId;
  /** Whether a node with this fork id may be on our chain. */
  readonly isCompatible: (forkId: ForkId) => boolean;
  /** Milliseconds since 1970. */
  readonly epochMs: () => number;
}

interface DnsListSource {
  readonly tree: TreeUrl;
  /** Name server to ask; undefined for the system's. */
  readonly nameServer: string | undefined;
}

export interface PeerDiscovery {
  /** Discovered nodes that listen for connections. */
  readonly nodes: readonly NodeContact[];
  close(): void;
}

interface PeerDiscoveryParts {
  readonly datagrams: DatagramPort;
  readonly clock: Clock;
  /** Random number from 0 to 1. */
  readonly chance: () => number;
  readonly isPermitted: (node: NodeAddress) => boolean;
  readonly wantsPeers: () => boolean;
  /** Called when a node to dial has been found. */
  readonly onNode: (node: NodeAddress) => void;
  readonly traffic?: Traffic | undefined;
  readonly logger: Logger;
}

/** Begins to search over the UDP port. `port` is the number at which others reach it, and the TCP port. */
export function beginDiscovery(
  search: DiscoverySearch & { readonly privateKey: Uint8Array; readonly port: number },
  { datagrams, clock, chance, isPermitted, wantsPeers, onNode, traffic, logger }: PeerDiscoveryParts,
): PeerDiscovery {
  const { privateKey, bootnodes, dnsList, advertisedIp: ip, port, forkId, isCompatible, epochMs } = search;
  const discovery = new Discovery(
    { privateKey, bootnodes },
    {
      clock,
      epochMs,
      chance,
      send: (bytes, to) => datagrams.send(bytes, to),
      endpoint: () => ({ ip, udpPort: port, tcpPort: port }),
      forkId,
      isCompatible,
      isPermitted: (node) => isPermitted(addressOf(node)),
      wantsPeers,
      onNode: (node) => onNode(addressOf(node)),
      onPacket: (direction, kind) => traffic?.discovered(direction, kind),
      onDropped: (reason) => traffic?.datagramDropped(reason),
      onRefused: (reason, count) => traffic?.nodeRefused(reason, count),
      logger,
    },
  );
  datagrams.begin((bytes, from) => discovery.receive(bytes, from));
  discovery.start();
  const lists =
    dnsList &&
    new DnsLists(dnsList.tree, {
      server: openNameServer(dnsList.nameServer),
      clock,
      chance,
      wantsPeers,
      isCompatible,
      onNode: (node) => discovery.offer(node),
      logger,
    });
  const named = followNamedNodes(search.namedBootnodes ?? [], {
    clock,
    resolve: search.resolve,
    onNode: (node) => discovery.offer(node),
  });
  return {
    get nodes() {
      return discovery.nodes;
    },
    close() {
      named.close();
      lists?.close();
      discovery.close();
    },
  };
}

function addressOf({ nodeId, ip, tcpPort, udpPort }: NodeContact): NodeAddress {
  return { nodeId, host: ip, tcpPort, udpPort };
}
