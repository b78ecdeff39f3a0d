import {
  choiceType,
  hostType,
  integerType,
  pathType,
  portType,
  switchType,
  textListType,
} from "../valueTypes.ts";
import { option } from "./option.ts";

/** These are read and checked, so that configurations carry over; what they ask for does not exist yet. */
const ABSENT = "peer-to-peer networking is not part of this version";
const NO_ITEMS: readonly string[] = [];
const common = { group: "Peer-to-peer network", noEffect: ABSENT, isHidden: true } as const;

const percentType = integerType({ label: "<PERCENT>", unit: "percent", max: 100n });

export const PEER_TO_PEER_OPTIONS = {
  "p2p-enabled": option({
    ...common,
    type: switchType,
    default: true,
    isMetBy: false,
    help: "Talk to peers.",
  }),
  "discovery-enabled": option({
    ...common,
    type: switchType,
    default: true,
    isMetBy: false,
    help: "Search for peers.",
  }),
  bootnodes: option({
    ...common,
    type: textListType,
    default: NO_ITEMS,
    defaultText: "those of the genesis file",
    help: "Enode URLs of the nodes to begin the search with.",
  }),
  "p2p-host": option({ ...common, type: hostType, default: "127.0.0.1", help: "Address told to peers." }),
  "p2p-interface": option({ ...common, type: hostType, default: "0.0.0.0", help: "Address to listen on." }),
  "p2p-port": option({ ...common, type: portType, default: 30303, help: "Port to listen on, TCP and UDP." }),
  "max-peers": option({
    ...common,
    type: integerType({ label: "<COUNT>", unit: "peers" }),
    default: 25,
    aliases: ["p2p-peer-upper-bound"],
    help: "Most peers at a time.",
  }),
  "remote-connections-limit-enabled": option({
    ...common,
    type: switchType,
    default: true,
    help: "Limit the share of peers that called us.",
  }),
  "remote-connections-max-percentage": option({
    ...common,
    type: percentType,
    default: 60,
    help: "That share.",
  }),
  "random-peer-priority-enabled": option({
    ...common,
    type: switchType,
    default: false,
    help: "Rank peers at random.",
  }),
  "banned-node-ids": option({
    ...common,
    type: textListType,
    default: NO_ITEMS,
    aliases: ["banned-node-id"],
    help: "Peers to refuse.",
  }),
  "net-restrict": option({ ...common, type: textListType, default: NO_ITEMS, help: "Subnets to stay in." }),
  "nat-method": option({
    ...common,
    type: choiceType(["UPNP", "UPNPP2PONLY", "DOCKER", "KUBERNETES", "AUTO", "NONE"]),
    default: "AUTO",
    help: "How the address told to peers is found.",
  }),
  "static-nodes-file": option({
    ...common,
    type: pathType,
    default: undefined,
    defaultText: "static-nodes.json in the data folder",
    help: "Peers to stay connected with.",
  }),
  "discovery-dns-url": option({
    ...common,
    type: textListType,
    default: NO_ITEMS,
    help: "List of peers in the domain name system.",
  }),
} as const;
