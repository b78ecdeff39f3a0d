import type { ForkId } from "../chainspec/forkId.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import type { NodeAddress, Opener } from "./dialer.ts";
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

interface PeerDiscoveryParts {
  readonly datagrams: DatagramPort;
  readonly clock: Clock;
  /** Random number from 0 to 1. */
  readonly chance: () => number;
  readonly isPermitted: (node: NodeAddress, from: Opener) => boolean;
  readonly wantsPeers: () => boolean;
  /** Called when a node to dial has been found. */
  readonly onNode: (node: NodeAddress) => void;
  readonly traffic?: Traffic | undefined;
  readonly logger: Logger;
}

/** The search for peers over the UDP port, and over lists of nodes in DNS. */
export class PeerDiscovery {
  private readonly discovery: Discovery;
  private readonly lists: DnsLists | undefined;
  private readonly named: { close(): void };

  /** Begins to search. `port` is the number at which others reach the UDP port, and the TCP port. */
  constructor(
    search: DiscoverySearch & { readonly privateKey: Uint8Array; readonly port: number },
    parts: PeerDiscoveryParts,
  ) {
    this.discovery = new Discovery(
      { privateKey: search.privateKey, bootnodes: search.bootnodes },
      {
        clock: parts.clock,
        epochMs: search.epochMs,
        chance: parts.chance,
        send: (bytes, to) => parts.datagrams.send(bytes, to),
        endpoint: () => ({ ip: search.advertisedIp, udpPort: search.port, tcpPort: search.port }),
        forkId: search.forkId,
        isCompatible: search.isCompatible,
        isPermitted: (node, from) => parts.isPermitted(addressOf(node), from),
        wantsPeers: parts.wantsPeers,
        onNode: (node) => parts.onNode(addressOf(node)),
        onPacket: (direction, kind) => parts.traffic?.discovered(direction, kind),
        onDropped: (reason) => parts.traffic?.datagramDropped(reason),
        onRefused: (reason, count) => parts.traffic?.nodeRefused(reason, count),
        logger: parts.logger,
      },
    );
    parts.datagrams.begin((bytes, from) => this.discovery.receive(bytes, from));
    this.discovery.start();
    this.lists =
      search.dnsList &&
      new DnsLists(search.dnsList.tree, {
        server: openNameServer(search.dnsList.nameServer),
        clock: parts.clock,
        chance: parts.chance,
        wantsPeers: parts.wantsPeers,
        isCompatible: search.isCompatible,
        onNode: (node) => this.discovery.offer(node),
        logger: parts.logger,
      });
    this.named = followNamedNodes(search.namedBootnodes ?? [], {
      clock: parts.clock,
      resolve: search.resolve,
      onNode: (node) => this.discovery.offer(node),
    });
  }

  /** Discovered nodes that listen for connections. */
  get nodes(): readonly NodeContact[] {
    return this.discovery.nodes;
  }

  /** Must be called when the rules of connections may have changed. */
  review(): void {
    this.discovery.review();
  }

  close(): void {
    this.named.close();
    this.lists?.close();
    this.discovery.close();
  }
}

function addressOf({ nodeId, ip, tcpPort, udpPort }: NodeContact): NodeAddress {
  return { nodeId, host: ip, tcpPort, udpPort };
}
