import { defineMethod } from "../../method.ts";
import { OBJECT } from "../../schemas.ts";

const MODULE_VERSION = "1.0";

export const rpcModules = defineMethod({
  name: "rpc_modules",
  namespace: "EVERY",
  summary: "The groups of methods that this endpoint offers, with their versions.",
  parameters: [],
  result: { name: "modules", schema: OBJECT },
  run: (_, { modules }) =>
    Object.fromEntries([...modules].map((name) => [name.toLowerCase(), MODULE_VERSION])),
});
