import { connectionsType, hostType, originsType, portType, switchType } from "../valueTypes.ts";
import { option } from "./option.ts";

const group = "GraphQL over HTTP";
const served = { group, requires: "graphql-http-enabled" } as const;

/** Besu's options, and a limit of connections. Its log-ins are those of rpc-http; TLS is in rpcSecurity.ts. */
export const GRAPHQL_OPTIONS = {
  "graphql-http-enabled": option({
    group,
    type: switchType,
    default: false,
    help: "Serve GraphQL over HTTP, at /graphql.",
  }),
  "graphql-http-host": option({
    ...served,
    type: hostType,
    default: "127.0.0.1",
    help: "Address to listen on; --host-allowlist applies here, too.",
  }),
  "graphql-http-port": option({
    ...served,
    type: portType,
    default: 8547,
    help: "Port to listen on; 0 picks a free one.",
  }),
  "graphql-http-cors-origins": option({
    ...served,
    type: originsType,
    default: [],
    defaultText: "none",
    help: "Web origins whose pages may send requests; * for any.",
  }),
  "graphql-http-max-active-connections": option({
    ...served,
    type: connectionsType,
    default: 80,
    help: "Maximum number of connections. A further one replaces an idle one, or is closed at once.",
  }),
} as const;
