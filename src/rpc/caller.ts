import type { Requester } from "../primitives/requester.ts";
import type { Grant } from "./access/grant.ts";
import type { CallContext, Connection, MethodDescription, Namespace, RpcMethod } from "./method.ts";
import type { MethodSet } from "./methodSet.ts";

/** The sender of a request. */
export interface Caller extends Requester {
  readonly connection: Connection | undefined;
  /** The caller is a web page of a foreign origin, for which methods that change the node count as not enabled. */
  readonly isForeignPage: boolean;
  /** The methods that its token allows; absent where everybody may call, and where that was decided before. */
  readonly grant?: Grant | undefined;
}

/** The context of a caller's calls: the methods that it can use, and who it is. */
export class CallerContext<Backend> implements CallContext<Backend> {
  readonly backend: Backend;
  readonly modules: ReadonlySet<Namespace>;
  readonly methods: readonly MethodDescription[];
  readonly offered: ReadonlyMap<string, RpcMethod<Backend>>;
  readonly #caller: Caller;

  constructor({ backend, modules, methods, offered }: MethodSet<Backend>, caller: Caller) {
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
