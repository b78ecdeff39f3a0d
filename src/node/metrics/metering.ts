import type { AccountIndex } from "../../accounts/accountIndex.ts";
import { declareAccountIndexMetrics } from "../../accounts/accountIndexMetrics.ts";
import type { CallerAccess } from "../../callers/access/callerAccess.ts";
import { declareChainMetrics } from "../../chain/chainMetrics.ts";
import type { Chain } from "../../chain/createChain.ts";
import type { MetricsServerSettings, MetricsSettings, Settings } from "../../config/settings.ts";
import { declarePeerMetrics } from "../../network/networkMetrics.ts";
import type { Logger } from "../../observability/logger.ts";
import { Metrics } from "../../observability/registry.ts";
import { type Clock, durationClock } from "../../primitives/clock.ts";
import type { Endpoint } from "../../primitives/endpoint.ts";
import { ok, type Result } from "../../primitives/result.ts";
import type { CoreParts } from "../../rpc/core/coreParts.ts";
import type { ServerErrorCode } from "../../rpc/server/server.ts";
import { nameOptions } from "../../rpc/server/serverTable.ts";
import type { StateRemover } from "../../state/removal/stateRemover.ts";
import type { BlockRemover } from "../../storage/removal/blockRemover.ts";
import { declareSyncMetrics } from "../../sync/syncMetrics.ts";
import { declarePoolMetrics } from "../../txpool/poolMetrics.ts";
import type { TxPool } from "../../txpool/txPool.ts";
import { declareExecutorMetrics, type Executor } from "../../workers/executorMetrics.ts";
import type { DataDirectory } from "../dataFolder/dataDirectory.ts";
import { createDiskUse } from "../dataFolder/diskUse.ts";
import { declareDiskMetrics } from "./diskMetrics.ts";
import { declareHistoryMetrics } from "./historyMetrics.ts";
import { MetricsPush } from "./metricsPush.ts";
import { openMetricsServer } from "./metricsServer.ts";
import { declareProcessMetrics } from "./processMetrics.ts";

/** Creates the node's metrics registry; undefined when metrics are off. */
export function createNodeMetrics(settings: MetricsSettings | undefined, clock: Clock): Metrics | undefined {
  if (settings === undefined) return undefined;
  return new Metrics(settings, { clock, stopwatchMs: () => performance.now() });
}

interface MeteringParts {
  readonly settings: Settings;
  readonly directory: DataDirectory;
  readonly chain: Chain;
  readonly pool: TxPool;
  readonly simulator: Executor;
  readonly recovery: Executor;
  /** Undefined when it is off. */
  readonly accountIndex: Pick<AccountIndex, "progress"> | undefined;
  readonly blockRemover: Pick<BlockRemover, "status">;
  readonly stateRemover: Pick<StateRemover, "status">;
  readonly ports: Pick<CoreParts, "network" | "syncStatus">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly access: CallerAccess;
}

interface Metering {
  /** Endpoint of the metrics server; undefined when metrics are pushed or off. */
  readonly endpoint: Endpoint | undefined;
  close(): Promise<void>;
}

/**
 * Declares the metrics of parts that do not declare their own (consensus and the servers do), and serves or pushes all
 * metrics.
 */
export async function openMetering(
  metrics: Metrics | undefined,
  parts: MeteringParts,
): Promise<Result<Metering, ServerErrorCode>> {
  const { server, push } = parts.settings.metrics ?? {};
  if (metrics === undefined) return ok({ endpoint: undefined, close: async () => undefined });
  const stopMeasuring = declareAll(metrics, parts);
  const outputParts = { ...parts, metrics };
  if (server === undefined) {
    const metricsPush =
      push === undefined ? undefined : new MetricsPush(push, { ...outputParts, clock: durationClock });
    return ok({
      endpoint: undefined,
      async close() {
        stopMeasuring();
        await metricsPush?.stop();
      },
    });
  }
  const { access } = parts;
  const current = (): MetricsServerSettings => access.now.metrics?.server ?? server;
  const opened = await openMetricsServer(server, { metrics, logger: parts.logger, current });
  if (!opened.ok) {
    stopMeasuring();
    return nameOptions(opened, "metrics");
  }
  const { host, port } = opened.value;
  return ok({
    endpoint: { host, port },
    async close() {
      stopMeasuring();
      await opened.value.close();
    },
  });
}

function declareAll(metrics: Metrics, parts: MeteringParts): () => void {
  const { settings, directory, chain, pool, ports, clock } = parts;
  declareChainMetrics(metrics, { chain, clock });
  declareSyncMetrics(metrics, {
    headNumber: () => chain.head.header.number,
    syncStatus: ports.syncStatus,
  });
  declarePeerMetrics(metrics, {
    maxPeers: settings.maxPeers,
    peerCount: () => ports.network.peerToPeer?.peerCount ?? 0,
  });
  declarePoolMetrics(metrics, pool, settings.pool);
  declareExecutorMetrics(metrics, { computation: parts.simulator, transactions: parts.recovery });
  declareDiskMetrics(metrics, createDiskUse(directory));
  declareHistoryMetrics(metrics, parts.blockRemover, parts.stateRemover);
  if (parts.accountIndex !== undefined) declareAccountIndexMetrics(metrics, parts.accountIndex);
  return declareProcessMetrics(metrics, {
    version: settings.clientVersion,
    startedAtMs: performance.timeOrigin,
  });
}
