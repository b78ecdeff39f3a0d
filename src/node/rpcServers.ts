import type { HttpSettings, RpcServerSettings, Settings, WebSocketSettings } from "../config/settings.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Clock } from "../primitives/clock.ts";
import { type Err, err, ok, type Result } from "../primitives/result.ts";
import { createRpcBackend } from "../rpc/backend.ts";
import { createDispatcher } from "../rpc/dispatcher.ts";
import { METHODS } from "../rpc/methods/registry.ts";
import type { RpcBackend, RpcPorts } from "../rpc/ports.ts";
import { remade } from "../rpc/remade.ts";
import { createRpcMetrics, declareRpcCounts, type RpcCount, type RpcMetrics } from "../rpc/rpcMetrics.ts";
import { openHttpServer } from "../rpc/server/http.ts";
import { createMessageReader, type MessageReader } from "../rpc/server/messageReader.ts";
import type { RpcServer, ServerErrorCode } from "../rpc/server/server.ts";
import { openWebSocketServer } from "../rpc/server/websocket.ts";
import { createSubscriptionMethods } from "../rpc/subscriptions/subscriptions.ts";
import { accessOf, type CallerAccess, httpServerSettings, offered, readinessOf } from "./callerAccess.ts";
import type { RpcThreads, RpcThreadsParts } from "./rpcThreads/rpcThreads.ts";

/** The JSON-RPC servers that the operator enabled. */
export interface RpcServers {
  readonly http: RpcServer | undefined;
  readonly webSocket: RpcServer | undefined;
  /** Has the threads answer, where there are any. Servers of this thread answer from the time that they are open. */
  begin(): Promise<void>;
  close(): Promise<void>;
}

export interface RpcServerParts {
  /** Limit of the connections of all servers, from the limit of open files; undefined when that is unknown. */
  readonly maxConnections: number | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
  /** That of the settings when absent. */
  readonly access?: CallerAccess;
  /** Opens HTTP on threads of its own; absent when the main thread is to answer. */
  readonly openThreads?: OpenHttpThreads;
}

/** Opens the server on threads, which ask `answering` for what they do not answer themselves. */
export type OpenHttpThreads = (
  settings: HttpSettings,
  answering: Pick<RpcThreadsParts, "dispatcher" | "readiness" | "count">,
) => Promise<Result<RpcThreads, ServerErrorCode>>;

interface CountedParts extends Omit<RpcServerParts, "metrics" | "access"> {
  readonly access: () => Pick<Settings, "http" | "webSocket">;
  readonly reader: MessageReader;
  readonly metrics: RpcMetrics | undefined;
  readonly count: ((one: RpcCount) => void) | undefined;
}

export async function openRpcServers(
  configured: Pick<Settings, "http" | "webSocket">,
  ports: RpcPorts,
  { metrics, access, ...others }: RpcServerParts,
): Promise<Result<RpcServers, ServerErrorCode>> {
  const { http, webSocket } = fitToOpenFiles(configured, others);
  const backend = createRpcBackend(ports);
  const open: { http?: RpcServer | RpcThreads; webSocket?: RpcServer } = {};
  const counts = {
    httpConnections: () => open.http?.connectionCount ?? 0,
    webSocketConnections: () => open.webSocket?.connectionCount ?? 0,
  };
  const count = metrics && declareRpcCounts(metrics, counts);
  const rpcMetrics = count && createRpcMetrics(metrics.stopwatchSeconds, count);
  metrics?.beforeRead(async () => {
    if (open.http !== undefined && "flushCounts" in open.http) await open.http.flushCounts();
  });
  const reader = createMessageReader(others.clock, rpcMetrics);
  const parts = { ...others, reader, count, metrics: rpcMetrics, access: () => access?.now ?? configured };
  const httpServer = http === undefined ? undefined : await openHttp(http, backend, parts);
  if (httpServer?.ok === false) return nameOption(httpServer, "--rpc-http");
  const webSocketServer =
    webSocket === undefined ? undefined : await openWebSocket(webSocket, backend, parts);
  if (webSocketServer?.ok === false) {
    await httpServer?.value.close();
    return nameOption(webSocketServer, "--rpc-ws");
  }
  if (httpServer !== undefined) open.http = httpServer.value;
  if (webSocketServer !== undefined) open.webSocket = webSocketServer.value;
  return ok({
    http: open.http,
    webSocket: open.webSocket,
    async begin() {
      if (open.http !== undefined && "begin" in open.http) await open.http.begin();
    },
    close: async () => {
      // Requests that arrived completely are still answered while the servers close.
      await Promise.all([open.http?.close(), open.webSocket?.close()]).finally(reader.close);
    },
  });
}

/** Reduces the connection limits of the servers by the same factor when there are too few open files for all. */
function fitToOpenFiles(
  { http, webSocket }: Pick<Settings, "http" | "webSocket">,
  { maxConnections: limit, logger }: Pick<RpcServerParts, "maxConnections" | "logger">,
): Pick<Settings, "http" | "webSocket"> {
  const wanted = (http?.maxConnections ?? 0) + (webSocket?.maxConnections ?? 0);
  if (limit === undefined || wanted <= limit) return { http, webSocket };
  logger.warn(
    { wanted, limit },
    `the limit of open files allows only ${limit} connections, fewer than the ${wanted} configured: raise it (ulimit -n)`,
  );
  const share = (connections: number): number => Math.max(1, Math.floor((connections * limit) / wanted));
  const withShare = <D extends RpcServerSettings>(server: D): D => ({
    ...server,
    maxConnections: share(server.maxConnections),
    maxConnectionsPerAddress: share(server.maxConnectionsPerAddress),
  });
  return {
    http: http && withShare(http),
    webSocket: webSocket && withShare(webSocket),
  };
}

async function openHttp(
  settings: HttpSettings,
  backend: RpcBackend,
  { reader, logger, metrics, count, access, openThreads }: CountedParts,
): Promise<Result<RpcServer | RpcThreads, ServerErrorCode>> {
  const current = (): HttpSettings => access().http ?? settings;
  const offer = offered(METHODS, current);
  const readiness = readinessOf(backend);
  if (openThreads !== undefined) {
    // The threads count what they answer, and what they are answered.
    const dispatcher = createDispatcher(offer, { backend, logger });
    return openThreads(settings, { dispatcher, readiness, count });
  }
  const dispatcher = createDispatcher(offer, { backend, logger, metrics });
  const answering = { dispatcher, readiness, reader, logger, metrics };
  return openHttpServer(httpServerSettings(settings, current), answering);
}

function openWebSocket(
  settings: WebSocketSettings,
  backend: RpcBackend,
  { reader, clock, logger, metrics, access }: CountedParts,
): Promise<Result<RpcServer, ServerErrorCode>> {
  const { host, port, maxConnections, maxFrameBytes, timeoutMs } = settings;
  const current = (): WebSocketSettings => access().webSocket ?? settings;
  const subscriptions = createSubscriptionMethods({
    chain: backend.chain,
    pool: backend.pool,
    onSyncChanged: backend.onSyncChanged,
    logger,
    metrics,
  });
  const methods = [...METHODS, ...subscriptions];
  const dispatcher = createDispatcher(offered(methods, current), { backend, logger, metrics });
  return openWebSocketServer(
    {
      host,
      port,
      ...accessOf(settings),
      access: remade(current, accessOf),
      maxActiveConnections: maxConnections,
      maxConnectionsPerAddress: settings.maxConnectionsPerAddress,
      proxyAddresses: settings.proxyAddresses,
      maxFrameBytes,
      timeoutMs,
    },
    { dispatcher, reader, clock, logger, metrics },
  );
}

/** Adds the option that the operator can change. */
export function nameOption(
  { error }: Err<ServerErrorCode>,
  prefix: "--rpc-http" | "--rpc-ws" | "--metrics",
): Result<never, ServerErrorCode> {
  const remedy =
    error.code === "addressInUse"
      ? `Choose another port with ${prefix}-port.`
      : `Choose another address with ${prefix}-host and ${prefix}-port.`;
  return err({ ...error, message: `${error.message}. ${remedy}` });
}
