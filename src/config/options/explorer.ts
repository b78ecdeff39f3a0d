import {
  addressesType,
  coinSymbolType,
  connectionsType,
  hostType,
  pathType,
  portType,
  switchType,
} from "../valueTypes.ts";
import { option } from "./option.ts";

const served = { group: "Explorer", requires: "explorer-enabled" } as const;

export const EXPLORER_OPTIONS = {
  "explorer-enabled": option({
    group: "Explorer",
    type: switchType,
    default: false,
    help: "Serve a web page that shows the chain: blocks, transactions, accounts, contracts, validators.",
  }),
  "explorer-host": option({
    ...served,
    type: hostType,
    default: "127.0.0.1",
    help: "Address to listen on; --host-allowlist applies here, too.",
  }),
  "explorer-port": option({ ...served, type: portType, default: 8549, help: "Port to listen on." }),
  "explorer-max-active-connections": option({
    ...served,
    type: connectionsType,
    default: 200,
    help: "Maximum number of connections. A visitor uses one or two.",
  }),
  "explorer-coin-symbol": option({
    ...served,
    type: coinSymbolType,
    default: "ETH",
    help: "Symbol of the chain's coin, which the page shows beside amounts and offers to wallets.",
  }),
  "explorer-verify-compilers": option({
    ...served,
    type: pathType,
    default: undefined,
    help: "Verify contracts with the compilers in this folder, files such as soljson-v0.8.24+commit.e11b9ed9.js. Off without it.",
  }),
  "explorer-verify-on-validators": option({
    group: "Explorer",
    requires: "explorer-verify-compilers",
    type: switchType,
    default: false,
    help: "Verify contracts also while this node is a validator; compilers take memory and time.",
  }),
  "explorer-proxy-addresses": option({
    ...served,
    type: addressesType,
    default: [],
    help: "Addresses of proxies whose X-Forwarded-For header the explorer and the faucet trust to tell visitors apart; localhost for all addresses of this host, if only the proxy can reach the port.",
  }),
} as const;
