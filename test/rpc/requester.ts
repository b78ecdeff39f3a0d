import { silentLogger } from "../../src/observability/logger.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { createDispatcher } from "../../src/rpc/dispatcher.ts";
import { type Namespace, NETWORK_NAMESPACES, type RpcMethod } from "../../src/rpc/method.ts";
import { METHODS } from "../../src/rpc/methods/registry.ts";
import { aCaller } from "../builders/aCaller.ts";
import { anRpcBackend, type BackendParts } from "../builders/anRpcBackend.ts";

/** Calls a method of any group by its name; returns the result or the error. */
export type Ask = (method: string, ...params: readonly unknown[]) => Promise<unknown>;

/** Calls the methods of these groups, all that any network may have unless it is told, on a node made of `parts`. */
export function requesterOf(parts: BackendParts, modules?: readonly Namespace[]): Ask {
  return requesterFor(METHODS, anRpcBackend(parts), modules);
}

/** Calls these methods, on nothing but the ports that they name. */
export function requesterFor<Ports>(
  methods: readonly RpcMethod<Ports>[],
  ports: Ports,
  modules: readonly Namespace[] = NETWORK_NAMESPACES,
): Ask {
  const dispatcher = createDispatcher(
    { methods, modules: new Set(modules) },
    { backend: ports, logger: silentLogger },
  );
  return async (method, ...params) => {
    const request = { jsonrpc: "2.0", id: 1, method, params };
    const reply = await dispatcher.answerRequest(request, JSON.stringify(request), aCaller);
    const { result, error } = JSON.parse(expectDefined(reply, "the reply").text) as Record<string, unknown>;
    return error ?? result;
  };
}
