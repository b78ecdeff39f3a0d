import type { Requester } from "../primitives/requester.ts";
import type { TraceJob, TraceResult } from "../tracers/traceJob.ts";
import type { Unread } from "../workers/sealed.ts";
import { workerEntry } from "../workers/workerEntry.ts";
import { WorkerPool, type WorkerPoolSettings } from "../workers/workerPool.ts";
import { type CallPoolParts, type CallPoolSettings, workerDataOf } from "./callPool.ts";
import type { TraceWorkerData } from "./traceWorker.ts";

/**
 * Runs traces on a worker thread of their own, so that short calls do not wait behind them, with a longer time limit than
 * calls. The worker starts with the first trace, since most nodes never get one.
 */
export interface TracePool {
  /** A job whose requester has disconnected ends as timed out. */
  run(job: Unread<TraceJob>, requester: Requester): Promise<TraceResult>;
  close(): Promise<void>;
}

export type TracePoolSettings = WorkerPoolSettings &
  Pick<CallPoolSettings, "gasCap"> & {
    /** Limit of a result and of the data held to write it. */
    readonly limitBytes: number;
  };

export const DEFAULT_TRACE_POOL_SETTINGS: TracePoolSettings = {
  threads: 1,
  timeoutMs: 60_000,
  waitingLimit: 1000,
  gasCap: 0n,
  limitBytes: 192 * 1024 * 1024,
};

export function createTracePool(settings: TracePoolSettings, parts: CallPoolParts): TracePool {
  const workerData: TraceWorkerData = {
    ...workerDataOf(settings, parts),
    limitBytes: settings.limitBytes,
  };
  return new WorkerPool<Unread<TraceJob>, TraceResult>(settings, {
    name: "traceWorker",
    entry: workerEntry("traceWorker"),
    workerData,
    clock: parts.clock,
    logger: parts.logger,
    timedOut: (limitMs) => ({ kind: "timedOut", limitMs }),
    exhausted: { kind: "tooMuchMemory" },
    busy: { kind: "busy" },
  });
}
