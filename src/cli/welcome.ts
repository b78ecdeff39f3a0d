import { DEV_ACCOUNTS, DEV_MNEMONIC } from "../config/devNetwork.ts";
import type { Settings } from "../config/settings.ts";
import type { Endpoints } from "../node/openServers.ts";
import type { ListenAddress } from "../rpc/server/server.ts";
import { isPath } from "../rpc/server/unixSocket.ts";

/** What a user needs to get started with the development network; printed once, after the start. */
export function welcomeText(
  settings: Pick<Settings, "clientVersion" | "chainSpec" | "dataPath">,
  servers: Pick<Endpoints, "http" | "webSocket" | "graphQl" | "explorer">,
): string {
  const accounts = DEV_ACCOUNTS.map(
    ({ address, privateKey }, index) => `  (${index}) ${address}\n      ${privateKey}`,
  );
  const graphQl =
    servers.graphQl === undefined ? "" : `\n  GraphQL      ${urlOf("http", servers.graphQl)}/graphql`;
  const link =
    servers.explorer === undefined ? "" : `\nThe chain in your browser: ${urlOf("http", servers.explorer)}\n`;
  return `
Ibex runs a development network (${settings.clientVersion}).

  Chain id     ${settings.chainSpec.chainId}
  HTTP         ${urlOf("http", servers.http)}
  WebSocket    ${urlOf("ws", servers.webSocket)}${graphQl}
  Data folder  ${settings.dataPath} (kept between runs; remove it for a new chain)

Accounts and their private keys, each funded with 10,000 ether in the genesis
block (mnemonic "${DEV_MNEMONIC}"):

${accounts.join("\n")}

These keys, and that of the validator, are public: never send anything of value
to these accounts.

Ctrl-C stops the node. Options: npm start -- --help
${link}
`;
}

/** URL of a server; "off" for one that is not running. */
export function urlOf(scheme: "http" | "ws" | "unix", address: ListenAddress | undefined): string {
  if (address === undefined) return "off";
  if (isPath(address)) return `${scheme}:${address.path}`;
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  return `${scheme}://${host}:${address.port}`;
}
