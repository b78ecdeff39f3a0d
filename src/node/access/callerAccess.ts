import type { ApiGroup } from "../../config/apiGroups.ts";
import type { OfferSettings, Settings } from "../../config/settings.ts";
import type { DispatcherSettings } from "../../rpc/dispatcher.ts";
import type { RpcMethod } from "../../rpc/method.ts";
import { METHODS } from "../../rpc/methods/registry.ts";
import type { RpcBackend } from "../../rpc/ports.ts";
import { remade } from "../../rpc/remade.ts";
import type { ServerName } from "../../rpc/server/serverTable.ts";

/** What callers may do; replaced when the configuration is reread, and read for each request. */
export interface CallerAccess {
  now: Pick<Settings, ServerName>;
  /** Calls `listener` after each replacement: threads have a copy. */
  onReplaced(listener: () => void): void;
}

/** `restrict` leaves out what this node does not offer, whatever its configuration says. */
export function createCallerAccess(
  settings: CallerAccess["now"],
  restrict: (settings: CallerAccess["now"]) => CallerAccess["now"] = (same) => same,
): CallerAccess {
  const listeners: (() => void)[] = [];
  let now = restrict(settings);
  return {
    get now() {
      return now;
    },
    set now(settings) {
      now = restrict(settings);
      for (const listener of listeners) listener();
    },
    onReplaced: (listener) => void listeners.push(listener),
  };
}

/** The methods, and the groups of them that are enabled now. */
export function offered(
  methods: readonly RpcMethod[],
  current: () => OfferSettings,
): DispatcherSettings<RpcBackend> {
  const modules = remade(current, ({ groups }) => groupsWithMethods(METHODS, groups));
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
