import { DEV_ACCOUNTS, DEV_MNEMONIC } from "../config/devNetwork.ts";
import type { Settings } from "../config/settings.ts";
import type { ListenAddress } from "../rpc/server/server.ts";
import type { Endpoints } from "../rpc/server/serverTable.ts";
import { isPath } from "../rpc/server/unixSocket.ts";

/**
 * What a builder needs to get started with the development network, printed once, after the start. Without the private keys
 * it fits on a terminal of 24 lines.
 */
export function welcomeText(
  settings: Pick<
    Settings,
    "clientVersion" | "chainSpec" | "dataPath" | "development" | "showsDevelopmentKeys"
  >,
  servers: Pick<Endpoints, "http" | "webSocket" | "graphQl" | "explorer">,
): string {
  const { clientVersion, chainSpec, dataPath, development, showsDevelopmentKeys } = settings;
  const facts = [
    ["Chain id", String(chainSpec.chainId)],
    ["HTTP", urlOf("http", servers.http)],
    ["WebSocket", urlOf("ws", servers.webSocket)],
    ...(servers.graphQl === undefined ? [] : [["GraphQL", `${urlOf("http", servers.graphQl)}/graphql`]]),
    [
      "Explorer",
      `${urlOf("http", servers.explorer)}${servers.explorer === undefined ? "" : ", the chain in your browser"}`,
    ],
    ["Blocks", blocksText(development)],
    ...(development === undefined
      ? []
      : [["Comforts", "unlocked accounts, time, mining, snapshots, as in Hardhat, anvil"]]),
    ["Data folder", dataPath],
  ];
  const shown = showsDevelopmentKeys ? DEV_ACCOUNTS : DEV_ACCOUNTS.slice(0, FOLDED_ACCOUNTS);
  const accounts = shown.flatMap(({ address, privateKey }, index) => [
    `  (${index}) ${address}`,
    ...(showsDevelopmentKeys ? [`      ${privateKey}`] : []),
  ]);
  const more = showsDevelopmentKeys
    ? []
    : ["  and so on: --dev-show-keys prints all ten, with their private keys"];
  return `
Ibex runs a development network (${clientVersion}).

${facts.map(([name = "", value = ""]) => `  ${name.padEnd(13)}${value}`).join("\n")}

Ten accounts with 10,000 ether each, of the mnemonic
"${DEV_MNEMONIC}":
${[...accounts, ...more].join("\n")}

All keys are public: never send anything of value to these accounts. The chain
is kept between runs; remove the data folder for a new one.

Ctrl-C stops the node. --help shows the options.

`;
}

function blocksText(development: Settings["development"]): string {
  if (development?.isInstant === true) return "one for each transaction, at once";
  return `one a second${development === undefined ? "" : "; --dev-instant-blocks makes one for each transaction"}`;
}

/** Accounts that are shown without their keys. */
const FOLDED_ACCOUNTS = 3;

/** URL of a server; "off" for one that is not running. */
export function urlOf(scheme: "http" | "ws" | "unix", address: ListenAddress | undefined): string {
  if (address === undefined) return "off";
  if (isPath(address)) return `${scheme}:${address.path}`;
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  return `${scheme}://${host}:${address.port}`;
}
