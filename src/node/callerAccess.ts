import type { ApiGroup } from "../config/apiGroups.ts";
import type { HttpSettings, RpcServerSettings, Settings, WebSocketSettings } from "../config/settings.ts";
import type { DispatcherSettings } from "../rpc/dispatcher.ts";
import type { RpcMethod } from "../rpc/method.ts";
import { METHODS } from "../rpc/methods/registry.ts";
import type { RpcBackend, RpcPorts } from "../rpc/ports.ts";
import { remade } from "../rpc/remade.ts";
import { type Objections, readiness } from "../rpc/server/health.ts";
import type { HttpSettings as HttpServerSettings } from "../rpc/server/http.ts";
import type { ServerAccess } from "../rpc/server/server.ts";
import type { TlsRules } from "../rpc/server/tls/tlsRules.ts";
import type { WebSocketSettings as WebSocketServerSettings } from "../rpc/server/websocket.ts";

/** What callers may do; replaced when the configuration is reread, and read for each request. */
export interface CallerAccess {
  now: Pick<Settings, "http" | "webSocket" | "explorer" | "metrics">;
  /** Calls `listener` after each replacement: threads have a copy. */
  onReplaced(listener: () => void): void;
}

export function createCallerAccess(settings: CallerAccess["now"]): CallerAccess {
  const listeners: (() => void)[] = [];
  let now = settings;
  return {
    get now() {
      return now;
    },
    set now(settings) {
      now = settings;
      for (const listener of listeners) listener();
    },
    onReplaced: (listener) => void listeners.push(listener),
  };
}

/** The settings of the HTTP server; `current` are those of now, of which it takes over what callers may do. */
export function httpServerSettings(settings: HttpSettings, current: () => HttpSettings): HttpServerSettings {
  return {
    host: settings.host,
    port: settings.port,
    ...accessOf(settings),
    corsOrigins: settings.corsOrigins,
    tls: tlsOf(settings, current),
    access: remade(current, (now) => ({ ...accessOf(now), corsOrigins: now.corsOrigins })),
    maxActiveConnections: settings.maxConnections,
    maxConnectionsPerAddress: settings.maxConnectionsPerAddress,
    maxHandshakes: settings.maxHandshakes,
    proxyAddresses: settings.proxyAddresses,
    maxBodyBytes: settings.maxBodyBytes,
    maxBatchSize: settings.maxBatchSize ?? 0,
    timeoutMs: settings.timeoutMs,
    isPretty: settings.isPrettyPrinted,
  };
}

/** The settings of the WebSocket server; `current` are those of now, of which it takes over what callers may do. */
export function webSocketServerSettings(
  settings: WebSocketSettings,
  current: () => WebSocketSettings,
): WebSocketServerSettings {
  return {
    host: settings.host,
    port: settings.port,
    ...accessOf(settings),
    tls: tlsOf(settings, current),
    access: remade(current, accessOf),
    maxActiveConnections: settings.maxConnections,
    maxConnectionsPerAddress: settings.maxConnectionsPerAddress,
    maxHandshakes: settings.maxHandshakes,
    proxyAddresses: settings.proxyAddresses,
    maxFrameBytes: settings.maxFrameBytes,
    timeoutMs: settings.timeoutMs,
  };
}

/** What is objected to the node being ready (json-rpc-errors.md#health). */
export function readinessOf(
  ports: Pick<
    RpcPorts,
    "network" | "diskPauseEndsAtBytes" | "syncStatus" | "isComparedWithPeers" | "clock" | "chain"
  >,
): (query: URLSearchParams) => Objections {
  const health = {
    peerCount: () => ports.network.peerToPeer?.peerCount,
    diskPauseEndsAtBytes: () => ports.diskPauseEndsAtBytes(),
    syncStatus: () => ports.syncStatus(),
    isCompared: () => ports.isComparedWithPeers(),
    headAgeSeconds: () => ports.clock.nowMs() / 1000 - Number(ports.chain.head.header.timestamp),
  };
  return (query) => readiness(query, health);
}

/** Whether a server has TLS does not change, but keys and clients do. */
function tlsOf({ tls }: RpcServerSettings, current: () => RpcServerSettings): (() => TlsRules) | undefined {
  return tls && (() => current().tls ?? tls);
}

function accessOf({ hostAllowlist, trustedOrigins }: RpcServerSettings): ServerAccess {
  return { allowedHosts: hostAllowlist, trustedOrigins };
}

/** The methods, and the groups of them that are enabled now. */
export function offered(
  methods: readonly RpcMethod[],
  current: () => RpcServerSettings,
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
