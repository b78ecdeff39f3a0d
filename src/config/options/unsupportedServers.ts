import { openListType, pathType, portType } from "../valueTypes.ts";
import { withoutEffect } from "./option.ts";

const group = "Engine API";

const NO_ENGINE = "the Engine API does not belong to an IBFT 2.0 node";

const engine = withoutEffect({ group, noEffect: NO_ENGINE });
const needsEngine = { requires: "engine-rpc-enabled" };

export const UNSUPPORTED_SERVER_OPTIONS = {
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
    "Host names accepted in the Host header of requests.",
    needsEngine,
  ),
} as const;
