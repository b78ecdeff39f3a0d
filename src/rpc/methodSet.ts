import { assert } from "../primitives/assert.ts";
import type { CallContext, Namespace, RpcMethod } from "./method.ts";

/** The methods that a caller can use. */
export interface MethodSet<Backend> extends Pick<CallContext<Backend>, "backend" | "modules" | "methods"> {
  /** Methods by name and by alias. */
  readonly offered: ReadonlyMap<string, RpcMethod<Backend>>;
}

export function createMethodSet<Backend>(
  all: readonly RpcMethod<Backend>[],
  modules: ReadonlySet<Namespace>,
  backend: Backend,
): MethodSet<Backend> {
  const inGroups = all.filter((method) => isOffered(method, modules));
  const taken = new Set(inGroups.filter(({ takesPlace }) => takesPlace === true).map(({ name }) => name));
  const methods = inGroups.filter(({ name, takesPlace }) => takesPlace === true || !taken.has(name));
  const offered = new Map<string, RpcMethod<Backend>>();
  for (const method of methods) {
    for (const name of [method.name, ...(method.aliases ?? [])]) {
      assert(!offered.has(name), `two methods are called ${name}`);
      offered.set(name, method);
    }
  }
  return { backend, modules, methods, offered };
}

/** Whether the method is offered where these modules are. */
function isOffered(
  { namespace, alsoIn = [] }: Pick<RpcMethod, "namespace" | "alsoIn">,
  modules: ReadonlySet<Namespace>,
): boolean {
  return namespace === "EVERY" || modules.has(namespace) || alsoIn.some((other) => modules.has(other));
}
