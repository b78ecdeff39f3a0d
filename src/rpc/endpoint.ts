import { assert } from "../primitives/assert.ts";
import type { Requester } from "../primitives/requester.ts";
import type { Grant } from "./access/grant.ts";
import type { CallContext, Connection, MethodDescription, Namespace, RpcMethod } from "./method.ts";

/** The sender of a request. */
export interface Caller extends Requester {
  readonly connection: Connection | undefined;
  /** The caller is a web page of a foreign origin, for which methods that change the node count as not enabled. */
  readonly isForeignPage: boolean;
  /** The methods that its token allows; absent where everybody may call, and where that was decided before. */
  readonly grant?: Grant | undefined;
}

/** The methods that a caller can use. */
export interface Endpoint<Backend> extends Pick<CallContext<Backend>, "backend" | "modules" | "methods"> {
  /** Methods by name and by alias. */
  readonly offered: ReadonlyMap<string, RpcMethod<Backend>>;
}

export function createEndpoint<Backend>(
  all: readonly RpcMethod<Backend>[],
  modules: ReadonlySet<Namespace>,
  backend: Backend,
): Endpoint<Backend> {
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

/** Whether an endpoint with these modules has the method. */
function isOffered(
  { namespace, alsoIn = [] }: Pick<RpcMethod, "namespace" | "alsoIn">,
  modules: ReadonlySet<Namespace>,
): boolean {
  return namespace === "EVERY" || modules.has(namespace) || alsoIn.some((other) => modules.has(other));
}

/** The context of the calls that a caller makes at an endpoint. */
export class EndpointContext<Backend> implements CallContext<Backend> {
  readonly backend: Backend;
  readonly modules: ReadonlySet<Namespace>;
  readonly methods: readonly MethodDescription[];
  readonly offered: ReadonlyMap<string, RpcMethod<Backend>>;
  readonly #caller: Caller;

  constructor({ backend, modules, methods, offered }: Endpoint<Backend>, caller: Caller) {
    this.backend = backend;
    this.modules = modules;
    this.methods = methods;
    this.offered = offered;
    this.#caller = caller;
  }

  get connection(): Connection | undefined {
    return this.#caller.connection;
  }

  get remoteHost(): string {
    return this.#caller.remoteHost;
  }

  get client(): object {
    return this.#caller.client;
  }

  get isForeignPage(): boolean {
    return this.#caller.isForeignPage;
  }

  /** Whether the caller's token allows the method. */
  allows(method: RpcMethod<Backend>): boolean {
    const { grant } = this.#caller;
    return grant === undefined || grant.allows(method);
  }

  isAbandoned(): boolean {
    return this.#caller.isAbandoned();
  }
}
