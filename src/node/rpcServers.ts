import { SUPPORTED_API_GROUPS } from "../config/apiGroups.ts";
import type { Settings } from "../config/settings.ts";
import type { Metrics } from "../observability/registry.ts";
import { type Err, err, ok, type Result } from "../primitives/result.ts";
import { createRpcBackend } from "../rpc/backend.ts";
import { createDispatcher } from "../rpc/dispatcher.ts";
import { METHODS } from "../rpc/methods/registry.ts";
import type { RpcPorts } from "../rpc/ports.ts";
import { declareRpcCounts } from "../rpc/rpcMetrics.ts";
import type { RpcServer, ServerErrorCode } from "../rpc/server/server.ts";
import { readinessOf } from "./callerAccess.ts";
import { fitToOpenFiles, type OpenFilesParts } from "./fitToOpenFiles.ts";
import type { LoadingThreads } from "./rpcThreads/loadingThreads.ts";
import type { RpcThreads, RpcThreadsError } from "./rpcThreads/rpcThreads.ts";
import type { RpcThreadsParts } from "./rpcThreads/threadParts.ts";

/** The JSON-RPC servers that the operator enabled, all on threads. */
export interface RpcServers {
  readonly http: RpcServer | undefined;
  readonly webSocket: RpcServer | undefined;
  readonly explorer: RpcServer | undefined;
  /** Has the threads answer. */
  begin(): Promise<void>;
  /** Has the threads for callers answer so many made-up calls each (warmup/madeUpCalls.ts). */
  warmUp(calls: number): void;
  close(): Promise<void>;
}

export interface RpcServerParts extends Omit<OpenFilesParts, "threads"> {
  readonly metrics: Metrics | undefined;
  /** Threads for HTTP and WebSocket; undefined where both are off. */
  readonly callers: LoadingThreads | undefined;
  /** Those for the explorer, whose visitors keep no caller waiting; undefined where it is off. */
  readonly visitors: LoadingThreads | undefined;
  readonly openThreads: OpenThreads;
}

type ConfiguredServers = Pick<Settings, "http" | "webSocket" | "explorer">;

/** Opens servers on threads, which ask `answering` for what they do not answer themselves. */
export type OpenThreads = (
  servers: ConfiguredServers,
  threads: LoadingThreads,
  answering: Pick<RpcThreadsParts, "dispatcher" | "readiness" | "count" | "onSyncChanged">,
) => Promise<Result<RpcThreads, ServerErrorCode> | RpcThreadsError>;

export async function openRpcServers(
  configured: ConfiguredServers,
  ports: RpcPorts,
  { metrics, callers, visitors, openThreads, ...openFiles }: RpcServerParts,
): Promise<Result<RpcServers, ServerErrorCode>> {
  const backend = createRpcBackend(ports);
  const open: { callers?: RpcThreads; visitors?: RpcThreads } = {};
  const ofAll = async (act: (threads: RpcThreads) => Promise<void>): Promise<void> => {
    await Promise.all(Object.values(open).map(act));
  };
  const close = (): Promise<void> => ofAll((threads) => threads.close());
  metrics?.beforeRead(() => ofAll((threads) => threads.flushCounts()));
  const counts = {
    httpConnections: () => open.callers?.servers.http?.connectionCount ?? 0,
    webSocketConnections: () => open.callers?.servers.webSocket?.connectionCount ?? 0,
  };
  // Threads look themselves whether a group is offered, and count what they are answered.
  const offer = { methods: METHODS, modules: new Set(SUPPORTED_API_GROUPS) };
  const answering = {
    dispatcher: createDispatcher(offer, { backend, logger: openFiles.logger }),
    readiness: readinessOf(backend),
    onSyncChanged: backend.onSyncChanged,
    count: metrics && declareRpcCounts(metrics, counts),
  };
  const threads = callers?.threads.length ?? 0;
  const { http, webSocket, explorer } = fitToOpenFiles(configured, { ...openFiles, threads });
  for (const [name, loading, servers] of [
    ["callers", callers, { http, webSocket, explorer: undefined }],
    ["visitors", visitors, { http: undefined, webSocket: undefined, explorer }],
  ] as const) {
    if (loading === undefined) continue;
    const opened = await openThreads(servers, loading, answering);
    if (!opened.ok) {
      await close();
      return nameOption(opened, "option" in opened ? opened.option : "--rpc-http");
    }
    open[name] = opened.value;
  }
  return ok({
    http: open.callers?.servers.http,
    webSocket: open.callers?.servers.webSocket,
    explorer: open.visitors?.servers.explorer,
    async begin() {
      await open.callers?.begin();
      // Visitors wait until callers are answered.
      void open.visitors?.begin();
    },
    warmUp: (calls) => open.callers?.warmUp(calls),
    close,
  });
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
