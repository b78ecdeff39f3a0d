import type { CallerAccess } from "../../callers/access/callerAccess.ts";
import type { MetricsServerSettings, Settings } from "../../config/settings.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import { durationClock } from "../../primitives/clock.ts";
import type { Endpoint } from "../../primitives/endpoint.ts";
import { ok, type Result } from "../../primitives/result.ts";
import type { ServerErrorCode } from "../../rpc/server/server.ts";
import { nameOptions } from "../../rpc/server/serverTable.ts";
import type { DataDirectory } from "../dataFolder/dataDirectory.ts";
import { createDiskUse, type ReadDiskUse } from "../dataFolder/diskUse.ts";
import { MetricsPush } from "./metricsPush.ts";
import { openMetricsServer } from "./metricsServer.ts";
import { declareProcessMetrics } from "./processMetrics.ts";

interface MeteringParts {
  readonly settings: Settings;
  readonly directory: DataDirectory;
  readonly logger: Logger;
  readonly access: CallerAccess;
}

interface Metering {
  /** Endpoint of the metrics server; undefined when metrics are pushed or off. */
  readonly endpoint: Endpoint | undefined;
  close(): Promise<void>;
}

/** Declares the metrics of the process and its disk, beside those that each part has declared, and serves or pushes all. */
export async function openMetering(
  metrics: Metrics | undefined,
  parts: MeteringParts,
): Promise<Result<Metering, ServerErrorCode>> {
  const { server, push } = parts.settings.metrics ?? {};
  if (metrics === undefined) return ok({ endpoint: undefined, close: async () => undefined });
  const stopMeasuring = declareHost(metrics, parts);
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

/** Declares the metrics of the process and its disk; returns what ends the measurements. */
function declareHost(metrics: Metrics, { settings, directory }: MeteringParts): () => void {
  declareDiskMetrics(metrics, createDiskUse(directory));
  return declareProcessMetrics(metrics, {
    version: settings.clientVersion,
    startedAtMs: performance.timeOrigin,
  });
}

/** Declares the free disk space of the data folder, and the size of the chain's database. */
function declareDiskMetrics(metrics: Metrics, readDiskUse: ReadDiskUse): void {
  if (!metrics.isEnabled("NODE")) return;
  let freeBytes = Number.NaN;
  let databaseBytes = Number.NaN;
  metrics.beforeRead(async () => {
    const use = await readDiskUse();
    freeBytes = use.freeBytes ?? Number.NaN;
    databaseBytes = use.databaseBytes;
  });
  metrics.gauge(
    {
      category: "NODE",
      name: "disk_free_bytes",
      help: "Free bytes on the disk of the data folder",
    },
    () => freeBytes,
  );
  metrics.gauge(
    { category: "NODE", name: "db_size_bytes", help: "Size of the chain's database files" },
    () => databaseBytes,
  );
}
