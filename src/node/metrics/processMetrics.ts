import { readdir, readFile } from "node:fs/promises";
import {
  constants,
  monitorEventLoopDelay,
  type PerformanceEntry,
  PerformanceObserver,
} from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { Metrics } from "../../observability/registry.ts";
import { bytesOfThreads } from "../../primitives/threadPages.ts";
import { memoryIn, type ProcessMemory } from "../host/processMemory.ts";
import { processCpuMs } from "../host/threadTimes.ts";

/**
 * Declares the metrics of the process and its runtime (metrics.md#process-and-runtime). Dashboards ask for Besu's names,
 * which are Java's; heap, garbage collections and threads of Node.js appear under them. Returns a function that stops
 * the measurements.
 */
export function declareProcessMetrics(
  metrics: Metrics,
  { version, startedAtMs }: { readonly version: string; readonly startedAtMs: number },
): () => void {
  metrics.gauges(
    {
      category: "PROCESS",
      name: "release",
      help: "1, labelled with the running version",
      labels: ["version"],
    },
    () => [[[version], 1]],
  );
  metrics.gauge(
    {
      category: "PROCESS",
      name: "start_time_seconds",
      help: "Start time of the process, seconds since 1970",
    },
    () => startedAtMs / 1000,
  );
  metrics.family(
    { category: "PROCESS", name: "cpu_seconds_total", help: "CPU time used, seconds", type: "counter" },
    () => [[[], processCpuMs() / 1000]],
  );
  metrics.gauge(
    {
      category: "PROCESS",
      name: "resident_memory_bytes",
      help: "Resident memory, the process's own and mapped files",
    },
    () => process.memoryUsage.rss(),
  );
  metrics.gauge(
    { category: "PROCESS", name: "evm_memory_bytes", help: "Memory of the EVM of all threads" },
    bytesOfThreads,
  );
  metrics.gauges(
    { category: "JVM", name: "info", help: "The runtime", labels: ["runtime", "vendor", "version"] },
    () => [[["Node.js", "OpenJS Foundation", process.version], 1]],
  );
  declareMemory(metrics);
  declareSystemMetrics(metrics);
  const stops = [measureCollections(metrics), measureLag(metrics)];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Declares memory under the names of Besu 24.7 and those that replaced them in 24.12. */
function declareMemory(metrics: Metrics): void {
  const areas = () => {
    const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
    const { heap_size_limit: limit } = getHeapStatistics();
    return {
      heap: { used: heapUsed, committed: heapTotal, max: limit, init: 0 },
      nonheap: { used: external, committed: Math.max(rss - heapTotal, external), max: -1, init: 0 },
    };
  };
  for (const what of ["used", "committed", "max", "init"] as const) {
    for (const name of [`memory_bytes_${what}`, `memory_${what}_bytes`]) {
      metrics.gauges(
        { category: "JVM", name, help: `Memory of the runtime: ${what}`, labels: ["area"] },
        () => {
          const { heap, nonheap } = areas();
          return [
            [["heap"], heap[what]],
            [["nonheap"], nonheap[what]],
          ];
        },
      );
    }
  }
}

interface SystemInfo {
  readonly openFiles?: number;
  readonly maxFiles?: number;
  readonly virtualBytes?: number;
  readonly threads?: number;
  readonly memory?: ProcessMemory;
}

/** Declares metrics read from /proc; elsewhere than on Linux there are no series. */
function declareSystemMetrics(metrics: Metrics): void {
  if (!metrics.isEnabled("PROCESS") && !metrics.isEnabled("JVM")) return;
  let info: SystemInfo = {};
  let mostThreads = 0;
  metrics.beforeRead(async () => {
    info = await readSystemInfo();
    mostThreads = Math.max(mostThreads, info.threads ?? 0);
  });
  const gauge = (
    category: "PROCESS" | "JVM",
    name: string,
    help: string,
    read: () => number | undefined,
  ): void =>
    metrics.gauges({ category, name, help }, () => {
      const value = read();
      return value === undefined ? [] : [[[], value]];
    });
  gauge("PROCESS", "virtual_memory_bytes", "Address space", () => info.virtualBytes);
  gauge(
    "PROCESS",
    "own_memory_bytes",
    "Resident memory of the process's own, which only it can give back",
    () => info.memory?.ownBytes,
  );
  gauge(
    "PROCESS",
    "mapped_memory_bytes",
    "Resident memory of mapped files, mostly tables of the database, which the system can take back",
    () => info.memory?.mappedBytes,
  );
  gauge("PROCESS", "open_fds", "Open file descriptors", () => info.openFiles);
  gauge("PROCESS", "max_fds", "Limit of open file descriptors", () => info.maxFiles);
  gauge("JVM", "threads_current", "Threads of the process", () => info.threads);
  gauge("JVM", "threads_daemon", "Threads other than the main one", () => info.threads && info.threads - 1);
  gauge("JVM", "threads_peak", "Highest number of threads so far", () => mostThreads);
  metrics.gauges(
    { category: "JVM", name: "threads_state", help: "Threads by state", labels: ["state"] },
    () => (info.threads === undefined ? [] : [[["RUNNABLE"], info.threads]]),
  );
}

async function readSystemInfo(): Promise<SystemInfo> {
  const [files, limits, status] = await Promise.all([
    readdir("/proc/self/fd").catch(() => undefined),
    readFile("/proc/self/limits", "utf8").catch(() => ""),
    readFile("/proc/self/status", "utf8").catch(() => ""),
  ]);
  const openFiles = files?.length;
  const maxFiles = numberIn(limits, /^Max open files\s+(\d+)/m);
  const virtualKiB = numberIn(status, /^VmSize:\s+(\d+) kB/m);
  const threads = numberIn(status, /^Threads:\s+(\d+)/m);
  const memory = memoryIn(status);
  return {
    ...(openFiles !== undefined && { openFiles }),
    ...(maxFiles !== undefined && { maxFiles }),
    ...(virtualKiB !== undefined && { virtualBytes: virtualKiB * 1024 }),
    ...(threads !== undefined && { threads }),
    ...(memory !== undefined && { memory }),
  };
}

function numberIn(text: string, pattern: RegExp): number | undefined {
  const [, digits] = pattern.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Measures the time of garbage collections, by kind. */
function measureCollections(metrics: Metrics): () => void {
  if (!metrics.isEnabled("JVM")) return () => undefined;
  const totals = new Map(GC_KINDS.map(([kind, name]) => [kind, { name, count: 0, seconds: 0 }]));
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const total = totals.get(kindOf(entry));
      if (total === undefined) continue;
      total.count++;
      total.seconds += entry.duration / 1000;
    }
  });
  observer.observe({ entryTypes: ["gc"] });
  metrics.family(
    {
      category: "JVM",
      name: "gc_collection_seconds",
      help: "Time in garbage collections, seconds",
      type: "summary",
      labels: ["gc"],
    },
    () =>
      [...totals.values()].flatMap(({ name, count, seconds }) => [
        [[name], count, "_count"],
        [[name], seconds, "_sum"],
      ]),
  );
  return () => observer.disconnect();
}

const GC_KINDS: readonly (readonly [kind: number, name: string])[] = [
  [constants.NODE_PERFORMANCE_GC_MINOR, "minor"],
  [constants.NODE_PERFORMANCE_GC_MAJOR, "major"],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, "incremental"],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, "weak_callbacks"],
];

/** Reads the collection's kind, which the declared type of an entry lacks. */
function kindOf(entry: PerformanceEntry): number {
  const detail: unknown = Reflect.get(entry, "detail");
  const kind: unknown =
    typeof detail === "object" && detail !== null ? Reflect.get(detail, "kind") : undefined;
  return typeof kind === "number" ? kind : 0;
}

/** Interval of the event loop samples; only the excess over it is lag. */
const LAG_RESOLUTION_MS = 10;

/** Measures the event loop's lag, by which callers and consensus are delayed. */
function measureLag(metrics: Metrics): () => void {
  if (!metrics.isEnabled("NODE")) return () => undefined;
  const delay = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  delay.enable();
  let lags: Readonly<Record<string, number>> = {};
  metrics.beforeRead(async () => {
    const secondsOf = (nanoseconds: number): number =>
      Math.max(0, (nanoseconds / 1e6 - LAG_RESOLUTION_MS) / 1000);
    lags = {
      p50: secondsOf(delay.percentile(50)),
      p99: secondsOf(delay.percentile(99)),
      max: secondsOf(delay.max),
    };
    delay.reset();
  });
  for (const which of ["p50", "p99", "max"]) {
    metrics.gauge(
      {
        category: "NODE",
        name: `event_loop_lag_${which}_seconds`,
        help: `Lag of the main thread's event loop since the last scrape: ${which}, seconds`,
      },
      () => lags[which] ?? Number.NaN,
    );
  }
  return () => delay.disable();
}
