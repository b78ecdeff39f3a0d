import type { TraceJob, TraceResult, Tracer } from "../tracers/traceJob.ts";
import { workerEntry } from "../workers/workerEntry.ts";
import { createThreads, type ThreadSettings } from "../workers/workerPool.ts";
import { type SimulationParts, type SimulationSettings, workerDataOf } from "./callPool.ts";
import type { TraceWorkerData } from "./traceWorker.ts";

/**
 * Traces on a thread of their own, so that short calls do not wait behind them, with more time than a call has. The
 * thread starts with the first trace: most nodes are never asked for one.
 */
export interface TracePool extends Tracer {
  close(): Promise<void>;
}

export type TraceSettings = ThreadSettings &
  Pick<SimulationSettings, "gasCap"> & {
    /** What an answer, and what is kept to write it, may take. */
    readonly limitBytes: number;
  };

export const DEFAULT_TRACE_SETTINGS: TraceSettings = {
  threads: 1,
  timeoutMs: 60_000,
  waitingLimit: 1000,
  gasCap: 0n,
  limitBytes: 192 * 1024 * 1024,
};

export function createTracePool(settings: TraceSettings, parts: SimulationParts): TracePool {
  const workerData: TraceWorkerData = {
    ...workerDataOf(settings, parts),
    limitBytes: settings.limitBytes,
  };
  return createThreads<TraceJob, TraceResult>(settings, {
    name: "traceWorker",
    entry: workerEntry(import.meta.url, "traceWorker"),
    workerData,
    clock: parts.clock,
    logger: parts.logger,
    timedOut: (limitMs) => ({ kind: "timedOut", limitMs }),
    exhausted: { kind: "tooMuchMemory" },
    busy: { kind: "busy" },
  });
}
