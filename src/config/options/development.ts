import { switchType } from "../valueTypes.ts";
import { option } from "./option.ts";

export const DEVELOPMENT_OPTIONS = {
  "dev-instant-blocks": option({
    group: "Development network",
    type: switchType,
    default: false,
    help: "Make a block as soon as a transaction arrives, and none otherwise. Only in the development network.",
  }),
  "dev-allow-remote": option({
    group: "Development network",
    type: switchType,
    default: false,
    help: "Offer EVM, HARDHAT and ANVIL also where JSON-RPC listens on other addresses than loopback.",
  }),
  "dev-show-keys": option({
    group: "Development network",
    type: switchType,
    default: false,
    help: "Print the ten accounts with their private keys, which are public, after the start.",
  }),
} as const;
