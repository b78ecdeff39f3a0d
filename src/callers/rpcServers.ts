import type { Metrics } from "../observability/registry.ts";
import { ok, type Result } from "../primitives/result.ts";
import { declareRpcCounts } from "../rpc/rpcMetrics.ts";
import type { ServerErrorCode } from "../rpc/server/server.ts";
import { CALLER_SERVERS, type CallerServerName, VISITOR_SERVERS } from "../rpc/server/serverTable.ts";
import { withoutUsers } from "./access/access.ts";
import type { CallerAccess } from "./access/callerAccess.ts";
import { fitToOpenFiles, type OpenFilesParts } from "./fitToOpenFiles.ts";
import type { LoadingThreads } from "./threads/loadingThreads.ts";
import { openRpcThreads, type RpcThreads, type RpcThreadsSettings } from "./threads/rpcThreads.ts";
import { mapServers } from "./threads/serverSettings.ts";
import type { RpcThreadsParts } from "./threads/threadParts.ts";

/** The servers that answer on threads, of those that the operator enabled. */
export interface RpcServers extends Pick<RpcThreads, "servers"> {
  /** Lets the threads answer. */
  begin(): Promise<void>;
  /** Lets each thread for callers answer so many made-up calls (warmup/madeUpCalls.ts). */
  warmUp(calls: number): void;
  close(): Promise<void>;
}

interface RpcServerParts extends Omit<RpcThreadsParts, "count">, Pick<OpenFilesParts, "maxConnections"> {
  readonly metrics: Metrics | undefined;
  /** Threads for CALLER_SERVERS; undefined where all of these are off. */
  readonly callers: LoadingThreads | undefined;
  /** Threads for the explorer, whose visitors keep no caller waiting; undefined where it is off. */
  readonly visitors: LoadingThreads | undefined;
  /** What callers may do, now and when it was changed. */
  readonly access: CallerAccess;
}

/**
 * Opens the servers that callers and visitors reach, on threads of their own:
 *
 *     fitToOpenFiles ──> threads/rpcThreads ─┬─ sharedListener: one port for all threads
 *                                            └─ rpcThread, on the main thread <── channel ──> callerThread: servers, methods
 *     access/: who may call. Gates check tokens on each thread; passwords and the keys of tokens stay on the main thread
 *
 * What is answered is the business of rpc and explorer, and what they ask of the main thread that of its core.
 */
export async function openRpcServers(
  settings: RpcThreadsSettings,
  { metrics, callers, visitors, access, maxConnections, ...parts }: RpcServerParts,
): Promise<Result<RpcServers, ServerErrorCode>> {
  const open: { callers?: RpcThreads; visitors?: RpcThreads } = {};
  const ofAll = async (act: (threads: RpcThreads) => Promise<void>): Promise<void> => {
    await Promise.all(Object.values(open).map(act));
  };
  const close = (): Promise<void> => ofAll((threads) => threads.close());
  const connectionsOf = (server: CallerServerName): number =>
    open.callers?.servers[server]?.connectionCount ?? 0;
  metrics?.beforeRead(() => ofAll((threads) => threads.flushCounts()));
  const threadsParts = { ...parts, count: metrics && declareRpcCounts(metrics, connectionsOf) };
  const fitted = fitToOpenFiles(settings.servers, {
    maxConnections,
    threads: callers?.threads.length ?? 0,
    logger: parts.logger.child("rpc"),
  });
  for (const [kind, loading, names] of [
    ["callers", callers, CALLER_SERVERS],
    ["visitors", visitors, VISITOR_SERVERS],
  ] as const) {
    if (loading === undefined) continue;
    const servers = withoutUsers(mapServers(fitted, names, (server) => server));
    const opened = await openRpcThreads({ ...settings, servers }, threadsParts, loading);
    if (!opened.ok) {
      await close();
      return opened;
    }
    access.onReplaced(() => opened.value.changeAccess(withoutUsers(access.now)));
    open[kind] = opened.value;
  }
  return ok({
    servers: { ...open.callers?.servers, ...open.visitors?.servers },
    async begin() {
      await open.callers?.begin();
      // Visitors wait until callers are answered.
      void open.visitors?.begin();
    },
    warmUp: (calls) => open.callers?.warmUp(calls),
    close,
  });
}
