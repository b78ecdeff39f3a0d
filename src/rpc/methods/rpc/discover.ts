import { defineMethod, type MethodDescription, RawJson } from "../../method.ts";
import { openRpcDocument } from "../../openRpc.ts";
import { OBJECT } from "../../schemas.ts";

/** Not in Besu: OpenRPC's service discovery method. */
export const rpcDiscover = defineMethod({
  name: "rpc.discover",
  namespace: "EVERY",
  summary: "The methods of this endpoint with their parameters and results, as an OpenRPC document.",
  parameters: [],
  result: { name: "document", schema: OBJECT },
  ports: ["settings"],
  run(_, { methods, backend }) {
    const known = texts.get(methods);
    if (known !== undefined) return known;
    const info = { title: "Ibex JSON-RPC", version: backend.settings.clientVersion };
    const text = new RawJson(JSON.stringify(openRpcDocument(methods, info)));
    texts.set(methods, text);
    return text;
  },
});

/** The document, built once per endpoint. */
const texts = new WeakMap<readonly MethodDescription[], RawJson>();
