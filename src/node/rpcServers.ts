import { SUPPORTED_API_GROUPS } from "../config/apiGroups.ts";
import type { HttpSettings, RpcServerSettings, Settings, WebSocketSettings } from "../config/settings.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import { type Clock, systemClock } from "../primitives/clock.ts";
import { type Err, err, ok, type Result } from "../primitives/result.ts";
import { createRpcBackend } from "../rpc/backend.ts";
import { createDispatcher } from "../rpc/dispatcher.ts";
import { METHODS } from "../rpc/methods/registry.ts";
import type { RpcBackend, RpcPorts } from "../rpc/ports.ts";
import { createRpcMetrics, declareRpcCounts, type RpcCount, type RpcMetrics } from "../rpc/rpcMetrics.ts";
import { CallerTime } from "../rpc/server/callerTime.ts";
import { MessageReader } from "../rpc/server/messageReader.ts";
import type { RpcServer, ServerErrorCode } from "../rpc/server/server.ts";
import { HANDSHAKES } from "../rpc/server/tls/handshakeLimits.ts";
import { createHandshakeTime, type HandshakeTime } from "../rpc/server/tls/handshakeTime.ts";
import { createSubscriptionMethods } from "../rpc/subscriptions/subscriptions.ts";
import type { Access } from "./access/access.ts";
import { serverGate } from "./access/serverGate.ts";
import {
  type CallerAccess,
  httpServerSettings,
  offered,
  readinessOf,
  webSocketServerSettings,
} from "./callerAccess.ts";
import type { RpcThreads, RpcThreadsError } from "./rpcThreads/rpcThreads.ts";
import type { RpcThreadsParts } from "./rpcThreads/threadParts.ts";

/** The JSON-RPC servers that the operator enabled. */
export interface RpcServers {
  readonly http: RpcServer | undefined;
  readonly webSocket: RpcServer | undefined;
  readonly explorer: RpcServer | undefined;
  /** Has the threads answer, where there are any. Servers of this thread answer from the time that they are open. */
  begin(): Promise<void>;
  /** Has the threads for callers answer so many made-up calls each (warmup/madeUpCalls.ts). */
  warmUp(calls: number): void;
  close(): Promise<void>;
}

export interface RpcServerParts {
  /**
   * Limit of the connections of all servers, the explorer's and those that begin included, from the limit of open files;
   * undefined when that is unknown.
   */
  readonly maxConnections: number | undefined;
  /** Threads that answer callers; none if not given. */
  readonly threads?: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
  /** What callers may do; as the settings have it when absent. */
  readonly access?: CallerAccess;
  /** Log-ins and their keys, where a server has users. */
  readonly logins?: Access;
  /** Opens the servers on threads of their own; absent when the main thread is to answer. */
  readonly openThreads?: OpenThreads;
  /** Opens the explorer on a thread of its own; absent where it is off. */
  readonly openExplorer?: OpenThreads | undefined;
}

type ConfiguredServers = Pick<Settings, "http" | "webSocket" | "explorer">;

/** Opens the servers on threads, which ask `answering` for what they do not answer themselves. */
export type OpenThreads = (
  settings: ConfiguredServers,
  answering: Pick<RpcThreadsParts, "dispatcher" | "readiness" | "count" | "onSyncChanged">,
) => Promise<Result<RpcThreads, ServerErrorCode> | RpcThreadsError>;

interface CountedParts extends Omit<RpcServerParts, "metrics" | "access" | "openThreads" | "openExplorer"> {
  readonly access: () => Pick<Settings, "http" | "webSocket">;
  readonly reader: MessageReader;
  readonly callerTime: CallerTime;
  readonly handshakeTime: HandshakeTime;
  readonly metrics: RpcMetrics | undefined;
  readonly count: ((one: RpcCount) => void) | undefined;
}

export async function openRpcServers(
  configured: ConfiguredServers,
  ports: RpcPorts,
  { metrics, access, openThreads, openExplorer, ...others }: RpcServerParts,
): Promise<Result<RpcServers, ServerErrorCode>> {
  const backend = createRpcBackend(ports);
  const open: OpenServers = {};
  const counts = {
    httpConnections: () => open.http?.connectionCount ?? 0,
    webSocketConnections: () => open.webSocket?.connectionCount ?? 0,
  };
  const count = metrics && declareRpcCounts(metrics, counts);
  const rpcMetrics = count && createRpcMetrics(metrics.stopwatchSeconds, count);
  metrics?.beforeRead(async () => {
    await Promise.all([open.threads?.flushCounts(), open.visitors?.flushCounts()]);
  });
  const reader = new MessageReader(others.clock, rpcMetrics);
  const parts = {
    ...others,
    reader,
    callerTime: new CallerTime(),
    handshakeTime: createHandshakeTime(others.clock),
    count,
    metrics: rpcMetrics,
    access: () => access?.now ?? configured,
  };
  const { explorer, ...callers } = fitToOpenFiles(configured, others);
  const opened =
    openThreads === undefined
      ? await openOnMainThread(callers, backend, parts)
      : await openOnThreads({ ...callers, explorer: undefined }, openThreads, threadAnswers(backend, parts));
  if (!opened.ok) return opened;
  Object.assign(open, opened.value);
  const close = async (): Promise<void> => {
    // Requests that arrived completely are still answered while the servers close.
    const servers = [open.http, open.webSocket, open.threads, open.visitors];
    await Promise.all(servers.map((server) => server?.close())).finally(() => reader.close());
  };
  if (explorer !== undefined && openExplorer !== undefined) {
    const only = { http: undefined, webSocket: undefined, explorer };
    const visitors = await openOnThreads(only, openExplorer, threadAnswers(backend, parts));
    if (!visitors.ok) {
      await close();
      return visitors;
    }
    Object.assign(open, { visitors: visitors.value.threads, explorer: visitors.value.explorer });
  }
  return ok({
    http: open.http,
    webSocket: open.webSocket,
    explorer: open.explorer,
    async begin() {
      await open.threads?.begin();
      // Visitors wait until callers are answered.
      void open.visitors?.begin();
    },
    warmUp: (calls) => open.threads?.warmUp(calls),
    close,
  });
}

interface OpenServers {
  http?: RpcServer;
  webSocket?: RpcServer;
  explorer?: RpcServer;
  /** Where the servers of callers are, and that of visitors. */
  threads?: RpcThreads;
  visitors?: RpcThreads;
}

async function openOnThreads(
  settings: ConfiguredServers,
  openThreads: OpenThreads,
  answering: Parameters<OpenThreads>[1],
): Promise<Result<OpenServers, ServerErrorCode>> {
  const { http, webSocket, explorer } = settings;
  if (http === undefined && webSocket === undefined && explorer === undefined) return ok({});
  const threads = await openThreads(settings, answering);
  if (!threads.ok) return nameOption(threads, "option" in threads ? threads.option : "--rpc-http");
  return ok({ threads: threads.value, ...threads.value.servers });
}

async function openOnMainThread(
  { http, webSocket }: Pick<Settings, "http" | "webSocket">,
  backend: RpcBackend,
  parts: CountedParts,
): Promise<Result<OpenServers, ServerErrorCode>> {
  const httpServer = http === undefined ? undefined : await openHttp(http, backend, parts);
  if (httpServer?.ok === false) return nameOption(httpServer, "--rpc-http");
  const webSocketServer =
    webSocket === undefined ? undefined : await openWebSocket(webSocket, backend, parts);
  if (webSocketServer?.ok === false) {
    await httpServer?.value.close();
    return nameOption(webSocketServer, "--rpc-ws");
  }
  return ok({
    ...(httpServer !== undefined && { http: httpServer.value }),
    ...(webSocketServer !== undefined && { webSocket: webSocketServer.value }),
  });
}

/**
 * Reduces the limits of the servers, for connections and for TLS handshakes, by the same factor when there are too few open files
 * for all.
 */
function fitToOpenFiles(
  { http, webSocket, explorer }: ConfiguredServers,
  {
    maxConnections: limit,
    threads = 0,
    logger,
  }: Pick<RpcServerParts, "maxConnections" | "threads" | "logger">,
): ConfiguredServers {
  const servers = [http, webSocket, explorer];
  const ports = [http, webSocket].filter((server) => server?.tls !== undefined).length;
  const handshakes = ports * Math.max(1, threads) * HANDSHAKES;
  const wanted = servers.reduce((sum, server) => sum + (server?.maxConnections ?? 0), handshakes);
  if (limit === undefined || wanted <= limit) return { http, webSocket, explorer };
  const included = handshakes === 0 ? "" : `, ${handshakes} of them for TLS handshakes`;
  logger.warn(
    { wanted, limit },
    `the limit of open files allows only ${limit} connections, fewer than the ${wanted} configured${included}: raise it (ulimit -n)`,
  );
  const share = (connections: number): number => Math.max(1, Math.floor((connections * limit) / wanted));
  const maxHandshakes = share(HANDSHAKES);
  const withShare = <D extends Pick<RpcServerSettings, "maxConnections" | "maxConnectionsPerAddress">>(
    server: D,
  ): D => ({
    ...server,
    maxConnections: share(server.maxConnections),
    maxConnectionsPerAddress: share(server.maxConnectionsPerAddress),
  });
  return {
    http: http && { ...withShare(http), maxHandshakes },
    webSocket: webSocket && { ...withShare(webSocket), maxHandshakes },
    explorer: explorer && withShare(explorer),
  };
}

/** What threads ask for. They look themselves whether a group is offered, and count what they are answered. */
function threadAnswers(backend: RpcBackend, { logger, count }: CountedParts): Parameters<OpenThreads>[1] {
  const offer = { methods: METHODS, modules: new Set(SUPPORTED_API_GROUPS) };
  return {
    dispatcher: createDispatcher(offer, { backend, logger }),
    readiness: readinessOf(backend),
    onSyncChanged: backend.onSyncChanged,
    count,
  };
}

async function openHttp(
  settings: HttpSettings,
  backend: RpcBackend,
  parts: CountedParts,
): Promise<Result<RpcServer, ServerErrorCode>> {
  const { reader, callerTime, handshakeTime, logger, metrics, access } = parts;
  const current = (): HttpSettings => access().http ?? settings;
  const offer = offered(METHODS, current);
  const readiness = readinessOf(backend);
  const dispatcher = createDispatcher(offer, { backend, logger, metrics, callerTime });
  const gate = await serverGate(settings, current, gateParts("http", parts));
  const answering = { dispatcher, readiness, reader, callerTime, handshakeTime, gate, logger, metrics };
  // Loaded where it is needed: the servers of threads are not of this one.
  const { openHttpServer } = await import("../rpc/server/http.ts");
  return openHttpServer(httpServerSettings(settings, current), answering);
}

async function openWebSocket(
  settings: WebSocketSettings,
  backend: RpcBackend,
  parts: CountedParts,
): Promise<Result<RpcServer, ServerErrorCode>> {
  const { reader, callerTime, handshakeTime, clock, logger, metrics, access } = parts;
  const current = (): WebSocketSettings => access().webSocket ?? settings;
  const subscriptions = createSubscriptionMethods({
    chain: backend.chain,
    pool: backend.pool,
    onSyncChanged: backend.onSyncChanged,
    logger,
    metrics,
    callerTime,
  });
  const methods = [...METHODS, ...subscriptions];
  const dispatcher = createDispatcher(offered(methods, current), { backend, logger, metrics, callerTime });
  const gate = await serverGate(settings, current, gateParts("webSocket", parts));
  const answering = { dispatcher, reader, callerTime, handshakeTime, gate, clock, logger, metrics };
  const { openWebSocketServer } = await import("../rpc/server/websocket.ts");
  return openWebSocketServer(webSocketServerSettings(settings, current), answering);
}

function gateParts(
  server: "http" | "webSocket",
  { logins, logger, metrics }: CountedParts,
): Parameters<typeof serverGate>[2] {
  return {
    issuedKey: logins?.issuedKeys[server],
    login: logins?.logins[server],
    nowMs: systemClock.nowMs,
    logger,
    metrics,
  };
}

/** Adds the option that the operator can change. */
export function nameOption(
  { error }: Err<ServerErrorCode>,
  prefix: "--rpc-http" | "--rpc-ws" | "--explorer" | "--metrics",
): Result<never, ServerErrorCode> {
  const remedy =
    error.code === "addressInUse"
      ? `Choose another port with ${prefix}-port.`
      : `Choose another address with ${prefix}-host and ${prefix}-port.`;
  return err({ ...error, message: `${error.message}. ${remedy}` });
}
