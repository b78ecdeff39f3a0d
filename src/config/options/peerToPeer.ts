import type { Hash } from "../../primitives/hash.ts";
import { type Enode, enodesType } from "../enode.ts";
import { blockHashesType } from "../mapTypes.ts";
import { nodeIdsType, subnetsType, treeUrlType } from "../peerTypes.ts";
import {
  choiceType,
  hostType,
  integerType,
  pathType,
  percentType,
  portType,
  switchType,
} from "../valueTypes.ts";
import { option } from "./option.ts";

const NO_ITEMS: readonly string[] = [];
const NO_NODES: readonly Enode[] = [];
const NO_IDS: readonly Uint8Array[] = [];
const NO_HASHES: ReadonlyMap<bigint, Hash> = new Map();
const group = "Peer-to-peer network";
/** Options that depend on peer-to-peer networking. */
const dependent = { group, requires: "p2p-enabled" } as const;

export const PEER_TO_PEER_OPTIONS = {
  "p2p-enabled": option({
    group,
    type: switchType,
    default: true,
    help: "Connect to peers.",
  }),
  "discovery-enabled": option({
    ...dependent,
    type: switchType,
    default: true,
    isMetBy: false,
    help: "Discover peers over UDP (discovery v4); when off, bootnodes are not dialled.",
  }),
  bootnodes: option({
    ...dependent,
    type: enodesType,
    default: NO_NODES,
    defaultText: "those of the genesis file",
    help: "Enode URLs of nodes to start discovery from, and to stay connected to.",
  }),
  "p2p-host": option({
    ...dependent,
    type: hostType,
    default: "127.0.0.1",
    help: "Address announced to peers.",
  }),
  "p2p-interface": option({
    ...dependent,
    type: hostType,
    default: "0.0.0.0",
    help: "Address to listen on.",
  }),
  "p2p-port": option({
    ...dependent,
    type: portType,
    default: 30303,
    help: "Port to listen on; 0 picks a free one.",
  }),
  "max-peers": option({
    ...dependent,
    type: integerType({ label: "<COUNT>", unit: "peers" }),
    default: 25,
    aliases: ["p2p-peer-upper-bound"],
    help: "Maximum number of peers; bootnodes, static nodes and peers added by admin_addPeer are not counted.",
  }),
  "remote-connections-limit-enabled": option({
    ...dependent,
    type: switchType,
    default: true,
    help: "Limit the share of peers that connected to this node.",
  }),
  "remote-connections-max-percentage": option({
    ...dependent,
    type: percentType,
    default: 60,
    help: "Maximum share of --max-peers that inbound connections may take.",
  }),
  "random-peer-priority-enabled": option({
    ...dependent,
    type: switchType,
    default: false,
    isMetBy: false,
    help: "When there are too many peers, disconnect random ones instead of refusing new ones.",
  }),
  "banned-node-ids": option({
    ...dependent,
    type: nodeIdsType,
    default: NO_IDS,
    aliases: ["banned-node-id"],
    help: "Node ids of peers to refuse.",
  }),
  "net-restrict": option({
    ...dependent,
    type: subnetsType,
    default: NO_ITEMS,
    help: "Subnets that peers must be in.",
  }),
  "nat-method": option({
    ...dependent,
    type: choiceType(["UPNP", "UPNPP2PONLY", "DOCKER", "KUBERNETES", "AUTO", "NONE"]),
    default: "AUTO",
    help: "How to find the address to announce: DOCKER (HOST_IP), NONE (--p2p-host), or AUTO.",
  }),
  "static-nodes-file": option({
    group,
    type: pathType,
    default: undefined,
    defaultText: "static-nodes.json in the data folder",
    help: "JSON file of peers to stay connected to.",
  }),
  "discovery-dns-url": option({
    ...dependent,
    type: treeUrlType,
    default: undefined,
    defaultText: "that of the genesis file",
    help: "URL of a list of nodes in DNS (EIP-1459), as a further source of peers.",
  }),
  "required-blocks": option({
    group,
    isHidden: true,
    noEffect: "peers are not asked for blocks that the operator names",
    type: blockHashesType,
    default: NO_HASHES,
    aliases: ["required-block"],
    help: "Block numbers with the hashes that peers must have there.",
  }),
  "filter-on-enr-fork-id": option({
    ...dependent,
    type: switchType,
    default: true,
    help: "Ignore discovered nodes that announce another fork id.",
  }),
  "compatibility-eth64-forkid-enabled": option({
    group,
    isHidden: true,
    noEffect: "fork ids are those of Besu since release 1.4",
    type: switchType,
    default: false,
    isMetBy: false,
    help: "Compute the fork id as releases before 1.4 did.",
  }),
} as const;
