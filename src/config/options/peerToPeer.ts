import type { Hash } from "../../primitives/hash.ts";
import { type Enode, enodesType } from "../enode.ts";
import { blockHashesType } from "../mapTypes.ts";
import { nodeIdsType, subnetsType } from "../peerTypes.ts";
import {
  choiceType,
  hostType,
  integerType,
  pathType,
  percentType,
  portType,
  switchType,
  textType,
} from "../valueTypes.ts";
import { option } from "./option.ts";

/** Such options are read and checked, so that configurations carry over; what they ask for does not exist yet. */
export const NOT_BUILT = "this part of peer-to-peer networking is not built yet";
const NOT_SEARCHED =
  "peers are not searched for yet, only called by name: list them in static-nodes.json or with --bootnodes";
const NO_ITEMS: readonly string[] = [];
const NO_NODES: readonly Enode[] = [];
const NO_IDS: readonly Uint8Array[] = [];
const NO_HASHES: ReadonlyMap<bigint, Hash> = new Map();
const group = "Peer-to-peer network";
const idle = { group, noEffect: NOT_BUILT, isHidden: true } as const;
/** Means nothing without peers. */
const dependent = { group, requires: "p2p-enabled" } as const;

export const PEER_TO_PEER_OPTIONS = {
  "p2p-enabled": option({
    group,
    type: switchType,
    default: true,
    help: "Talk to peers.",
  }),
  "discovery-enabled": option({
    ...dependent,
    noEffect: NOT_SEARCHED,
    type: switchType,
    default: true,
    isMetBy: false,
    help: "Search for peers; without it, bootnodes are not called.",
  }),
  bootnodes: option({
    ...dependent,
    type: enodesType,
    default: NO_NODES,
    defaultText: "those of the genesis file",
    help: "Enode URLs of nodes to stay connected with, and to begin the search with.",
  }),
  "p2p-host": option({ ...dependent, type: hostType, default: "127.0.0.1", help: "Address told to peers." }),
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
    help: "Port to listen on; 0 for any free one.",
  }),
  "max-peers": option({
    ...dependent,
    type: integerType({ label: "<COUNT>", unit: "peers" }),
    default: 25,
    aliases: ["p2p-peer-upper-bound"],
    help: "Most peers at a time.",
  }),
  "remote-connections-limit-enabled": option({
    ...dependent,
    type: switchType,
    default: true,
    help: "Limit the share of peers that called us.",
  }),
  "remote-connections-max-percentage": option({
    ...dependent,
    type: percentType,
    default: 60,
    help: "That share.",
  }),
  "random-peer-priority-enabled": option({
    ...idle,
    type: switchType,
    default: false,
    help: "Rank peers at random.",
  }),
  "banned-node-ids": option({
    ...dependent,
    type: nodeIdsType,
    default: NO_IDS,
    aliases: ["banned-node-id"],
    help: "Peers to refuse.",
  }),
  "net-restrict": option({ ...dependent, type: subnetsType, default: NO_ITEMS, help: "Subnets to stay in." }),
  "nat-method": option({
    ...idle,
    type: choiceType(["UPNP", "UPNPP2PONLY", "DOCKER", "KUBERNETES", "AUTO", "NONE"]),
    default: "AUTO",
    help: "How the address told to peers is found.",
  }),
  "static-nodes-file": option({
    group,
    type: pathType,
    default: undefined,
    defaultText: "static-nodes.json in the data folder",
    help: "Peers to stay connected with.",
  }),
  "discovery-dns-url": option({
    ...idle,
    type: textType({ label: "<URL>", accepts: "an enrtree URL" }),
    default: undefined,
    defaultText: "that of the genesis file",
    help: "List of peers in the domain name system.",
  }),
  "required-blocks": option({
    ...idle,
    type: blockHashesType,
    default: NO_HASHES,
    aliases: ["required-block"],
    help: "Blocks with their hashes; peers that have others are cut.",
  }),
  "filter-on-enr-fork-id": option({
    ...idle,
    type: switchType,
    default: true,
    help: "Pass over nodes that announce other forks.",
  }),
  "compatibility-eth64-forkid-enabled": option({
    ...idle,
    type: switchType,
    default: false,
    isMetBy: false,
    help: "Compute the fork id as releases before 1.4 did.",
  }),
} as const;
