import { DEV_ACCOUNTS, DEV_MNEMONIC } from "../config/devNetwork.ts";
import type { Settings } from "../config/settings.ts";
import type { Mining } from "../node/runningNode.ts";
import type { ListenAddress } from "../rpc/server/server.ts";
import type { Endpoints } from "../rpc/server/serverTable.ts";
import { isPath } from "../rpc/server/unixSocket.ts";

/**
 * What a builder needs to get started with the development network, printed once, after the start. Without the private keys
 * it fits on a terminal of 24 lines.
 */
export function welcomeText(
  settings: Pick<Settings, "clientVersion" | "chainSpec" | "dataPath" | "showsDevelopmentKeys">,
  {
    endpoints: servers,
    mining,
  }: {
    readonly endpoints: Pick<Endpoints, "http" | "webSocket" | "graphQl" | "explorer">;
    readonly mining: Mining | undefined;
  },
): string {
  const { clientVersion, chainSpec, dataPath, showsDevelopmentKeys } = settings;
  const facts = [
    ["Chain id", String(chainSpec.chainId)],
    ["HTTP", urlOf("http", servers.http)],
    ["WebSocket", urlOf("ws", servers.webSocket)],
    ...(servers.graphQl === undefined ? [] : [["GraphQL", `${urlOf("http", servers.graphQl)}/graphql`]]),
    [
      "Explorer",
      `${urlOf("http", servers.explorer)}${servers.explorer === undefined ? "" : ", the chain in your browser"}`,
    ],
    ["Blocks", blocksText(mining)],
    ...(mining === undefined
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

function blocksText(mining: Mining | undefined): string {
  if (mining === undefined) return "one a second";
  const { isModeDefault, isAutomatic, intervalMs } = mining;
  if (isModeDefault) return "one a second; --dev-instant-blocks makes one for each transaction";
  const byTime = intervalMs === undefined ? "" : `one each ${intervalMs / 1000} s`;
  if (isAutomatic) return `one for each transaction, at once${byTime === "" ? "" : `, and ${byTime}`}`;
  return byTime === ""
    ? "on demand alone, as callers chose: evm_mine, evm_setAutomine"
    : `${byTime}, as callers chose`;
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
