import type { ApiGroup } from "../../config/apiGroups.ts";
import type { OfferSettings, Settings } from "../../config/settings.ts";
import type { DispatcherSettings } from "../../rpc/dispatcher.ts";
import { memoized } from "../../rpc/memoized.ts";
import type { RpcMethod } from "../../rpc/method.ts";
import { METHODS } from "../../rpc/methods/registry.ts";
import type { RpcBackend } from "../../rpc/ports.ts";
import type { ServerName } from "../../rpc/server/serverTable.ts";

/** What callers may do; replaced when the configuration is reread, and read for each request. */
export class CallerAccess {
  private readonly restrict: (settings: Offered) => Offered;
  private readonly listeners: (() => void)[] = [];
  private restricted: Offered;

  /** `restrict` leaves out what this node does not offer, whatever its configuration says. */
  constructor(settings: Offered, restrict: (settings: Offered) => Offered = (same) => same) {
    this.restrict = restrict;
    this.restricted = restrict(settings);
  }

  get now(): Offered {
    return this.restricted;
  }

  set now(settings: Offered) {
    this.restricted = this.restrict(settings);
    for (const listener of this.listeners) listener();
  }

  /** Calls `listener` after each replacement: threads have a copy. */
  onReplaced(listener: () => void): void {
    this.listeners.push(listener);
  }
}

type Offered = Pick<Settings, ServerName>;

/** The methods, and the groups of them that are enabled now. */
export function offered(
  methods: readonly RpcMethod[],
  current: () => OfferSettings,
): DispatcherSettings<RpcBackend> {
  const modules = memoized(current, ({ groups }) => groupsWithMethods(METHODS, groups));
  return {
    methods,
    get modules() {
      return modules();
    },
  };
}

/** The enabled groups that have methods, so that rpc_modules lists no empty one. */
function groupsWithMethods(
  methods: readonly RpcMethod[],
  groups: readonly ApiGroup[],
): ReadonlySet<ApiGroup> {
  return new Set(groups.filter((group) => methods.some(({ namespace }) => namespace === group)));
}
