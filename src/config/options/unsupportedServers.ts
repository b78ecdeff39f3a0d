import { hostType, openListType, originsType, pathType, portType } from "../valueTypes.ts";
import { withoutEffect } from "./option.ts";

const NO_ORIGINS: readonly string[] = [];
const group = "GraphQL and Engine API";

const NO_GRAPHQL = "GraphQL is not part of this version";
const NO_ENGINE = "the Engine API does not belong to an IBFT 2.0 node";

const graphql = withoutEffect({ group, noEffect: NO_GRAPHQL });
const engine = withoutEffect({ group, noEffect: NO_ENGINE });
const needsGraphql = { requires: "graphql-http-enabled" };
const needsEngine = { requires: "engine-rpc-enabled" };

export const UNSUPPORTED_SERVER_OPTIONS = {
  "graphql-http-enabled": graphql.switched(false, "Answer GraphQL over HTTP."),
  "graphql-http-host": graphql.valued(hostType, "127.0.0.1", "Address to listen on.", needsGraphql),
  "graphql-http-port": graphql.valued(portType, 8547, "Port to listen on.", needsGraphql),
  "graphql-http-cors-origins": graphql.valued(
    originsType,
    NO_ORIGINS,
    "Web origins whose pages may send requests.",
    needsGraphql,
  ),
  "engine-rpc-enabled": engine.switched(false, "Serve the Engine API to a consensus client."),
  "engine-rpc-port": engine.valued(portType, 8551, "Port to listen on.", {
    ...needsEngine,
    aliases: ["engine-rpc-http-port"],
  }),
  "engine-jwt-secret": engine.optional(pathType, "File of the secret shared with the consensus client.", {
    ...needsEngine,
    defaultText: "jwt.hex in the data folder",
  }),
  "engine-jwt-disabled": engine.switched(false, "Accept a consensus client without a token.", needsEngine),
  "engine-host-allowlist": engine.valued(
    openListType("Hostname"),
    ["localhost", "127.0.0.1"],
    "Host names that requests may be addressed to.",
    needsEngine,
  ),
} as const;
