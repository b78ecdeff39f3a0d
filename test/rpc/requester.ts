import { silentLogger } from "../../src/observability/logger.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { createDispatcher } from "../../src/rpc/dispatcher.ts";
import { NAMESPACES } from "../../src/rpc/method.ts";
import { METHODS } from "../../src/rpc/methods/registry.ts";
import { aCaller } from "../builders/aCaller.ts";
import { anRpcBackend, type BackendParts } from "../builders/anRpcBackend.ts";

/** Calls a method of any group on a node made of `parts`; returns the result or the error. */
export type Ask = (method: string, ...params: readonly unknown[]) => Promise<unknown>;

export function requesterOf(parts: BackendParts): Ask {
  const dispatcher = createDispatcher(
    { methods: METHODS, modules: new Set(NAMESPACES) },
    { backend: anRpcBackend(parts), logger: silentLogger },
  );
  return async (method, ...params) => {
    const request = { jsonrpc: "2.0", id: 1, method, params };
    const reply = await dispatcher.answerRequest(request, JSON.stringify(request), aCaller);
    const { result, error } = JSON.parse(expectDefined(reply, "the reply").text) as Record<string, unknown>;
    return error ?? result;
  };
}
