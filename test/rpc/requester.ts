import { silentLogger } from "../../src/observability/logger.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { createDispatcher } from "../../src/rpc/dispatcher.ts";
import { NAMESPACES, type RpcMethod } from "../../src/rpc/method.ts";
import { METHODS } from "../../src/rpc/methods/registry.ts";
import { aCaller } from "../builders/aCaller.ts";
import { anRpcBackend, type BackendParts } from "../builders/anRpcBackend.ts";

/** Calls a method of any group by its name; returns the result or the error. */
export type Ask = (method: string, ...params: readonly unknown[]) => Promise<unknown>;

/** Calls all methods, on a node made of `parts`. */
export function requesterOf(parts: BackendParts): Ask {
  return requesterFor(METHODS, anRpcBackend(parts));
}

/** Calls these methods, on nothing but the ports that they name. */
export function requesterFor<Ports>(methods: readonly RpcMethod<Ports>[], ports: Ports): Ask {
  const dispatcher = createDispatcher(
    { methods, modules: new Set(NAMESPACES) },
    { backend: ports, logger: silentLogger },
  );
  return async (method, ...params) => {
    const request = { jsonrpc: "2.0", id: 1, method, params };
    const reply = await dispatcher.answerRequest(request, JSON.stringify(request), aCaller);
    const { result, error } = JSON.parse(expectDefined(reply, "the reply").text) as Record<string, unknown>;
    return error ?? result;
  };
}
