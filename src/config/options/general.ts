import { LOG_LEVELS, LOG_MODULES } from "../../observability/levels.ts";
import { genesisOverridesType } from "../mapTypes.ts";
import { bigintType, choiceType, openListType, pathType, switchType, textType } from "../valueTypes.ts";
import { logLevelType, moduleLevelsType } from "./logLevel.ts";
import { option } from "./option.ts";

/** Besu's profiles (options.md#profiles); NONE means no profile and occurs in Besu's example files. */
export const PROFILE_NAMES = ["ENTERPRISE", "PRIVATE", "MINIMALIST_STAKER", "STAKER", "DEV", "NONE"] as const;

const NO_OVERRIDES: ReadonlyMap<string, string> = new Map();

export const GENERAL_OPTIONS = {
  help: option({
    type: switchType,
    default: false,
    group: "General",
    letter: "h",
    isOutsideFiles: true,
    help: "Show this help and exit.",
  }),
  version: option({
    type: switchType,
    default: false,
    group: "General",
    letter: "V",
    isOutsideFiles: true,
    help: "Show the version and exit.",
  }),
  Xhelp: option({
    type: switchType,
    default: false,
    group: "General",
    isOutsideFiles: true,
    help: "Show the options that this help leaves out, and exit.",
  }),
  "config-file": option({
    type: pathType,
    default: undefined,
    group: "General",
    isOutsideFiles: true,
    help: "TOML file with options: the names below without the dashes.",
  }),
  profile: option({
    type: choiceType(PROFILE_NAMES),
    default: undefined,
    defaultText: "none",
    group: "General",
    help: `Besu profile that sets the options not given elsewhere: ${PROFILE_NAMES.join(", ")}.`,
  }),
  "data-path": option({
    type: pathType,
    default: "ibex-data",
    group: "General",
    help: "Folder for the node's key and database. Created if missing.",
  }),
  "genesis-file": option({
    type: pathType,
    default: undefined,
    group: "General",
    help: "Genesis file of the network (Besu's JSON with an ibft2 section).",
  }),
  network: option({
    type: choiceType([
      "MAINNET",
      "SEPOLIA",
      "HOLESKY",
      "LUKSO",
      "DEV",
      "FUTURE_EIPS",
      "EXPERIMENTAL_EIPS",
      "CLASSIC",
      "MORDOR",
    ]),
    default: undefined,
    group: "General",
    isHidden: true,
    help: "A public network; none of them is an IBFT 2.0 chain, so every name is refused.",
  }),
  "override-genesis-config": option({
    type: genesisOverridesType,
    default: NO_OVERRIDES,
    group: "General",
    isHidden: true,
    help: "Values that replace those in the config section of the genesis file; an empty value removes the key.",
  }),
  "network-id": option({
    type: bigintType({ label: "<INTEGER>", max: 2n ** 256n - 1n }),
    default: undefined,
    defaultText: "the chain id",
    group: "General",
    help: "Network id sent to peers and answered by net_version.",
  }),
  "node-private-key-file": option({
    type: pathType,
    default: undefined,
    defaultText: "the file key in the data folder",
    group: "General",
    help: "File with the node's private key: 64 hexadecimal digits. Created if missing, unless the data folder is in use.",
  }),
  "node-keystore-file": option({
    type: pathType,
    default: undefined,
    group: "General",
    help:
      "Keystore (Web3 Secret Storage, version 3) with the node's private key, instead of a plain key file. 'keystore encrypt' " +
      "creates one.",
  }),
  "node-keystore-password-file": option({
    type: pathType,
    default: undefined,
    group: "General",
    help: "File whose first line is the password of the keystore.",
  }),
  identity: option({
    type: textType({ label: "<NAME>", accepts: "a name" }),
    default: undefined,
    group: "General",
    help: "A name to include in the client version string.",
  }),
  "pid-path": option({
    type: pathType,
    default: undefined,
    group: "General",
    help: "File that holds the process id while the node runs.",
  }),
  "host-allowlist": option({
    type: openListType("Hostname"),
    default: ["localhost", "127.0.0.1"],
    group: "General",
    aliases: ["host-whitelist"],
    help: "Host names accepted in the Host header of requests to any port; * for any.",
  }),
  logging: option({
    type: logLevelType,
    default: "INFO",
    group: "Logging",
    letter: "l",
    variables: ["LOG_LEVEL"],
    help: `Log level: ${LOG_LEVELS.join(", ")}.`,
  }),
  "logging-modules": option({
    type: moduleLevelsType,
    default: [],
    group: "Logging",
    help: `Log levels of individual modules, such as consensus=DEBUG,rpc=WARN. Modules: ${LOG_MODULES.join(", ")}.`,
  }),
  "logging-format": option({
    type: choiceType(["AUTO", "TEXT", "JSON"]),
    default: "AUTO",
    group: "Logging",
    help:
      "TEXT for people, JSON for programs. AUTO means JSON, except on a terminal: there, short lines, with one line for " +
      "every ten empty blocks. The variables LOGGER=Json and LOGGER=Console select JSON and TEXT.",
  }),
  "color-enabled": option({
    type: switchType,
    default: undefined,
    defaultText: "on a terminal, unless NO_COLOR is set",
    group: "Logging",
    help: "Color log lines that are not JSON.",
  }),
} as const;
