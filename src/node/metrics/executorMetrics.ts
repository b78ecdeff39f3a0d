import type { Metrics } from "../../observability/registry.ts";
import type { WorkLoad } from "../../workers/workLoad.ts";

/** A pool of threads, for reading. */
export interface Executor {
  readonly load: WorkLoad;
}

/**
 * Threads and queues under the names of Besu's executors that do the same work
 * (metrics.md#process-and-runtime): simulated calls are its computation, recovering signers its transactions.
 */
export function declareExecutorMetrics(
  metrics: Metrics,
  executors: { readonly computation: Executor; readonly transactions: Executor },
): void {
  for (const [name, executor] of Object.entries(executors)) {
    const gauge = (what: string, help: string, read: (load: WorkLoad) => number): void =>
      metrics.gauge({ category: "EXECUTORS", name: `ethscheduler_${name}_${what}`, help }, () =>
        read(executor.load),
      );
    gauge("queue_length_current", "Pieces of work that wait for a thread", ({ waiting }) => waiting);
    gauge("active_threads_current", "Threads at work", ({ active }) => active);
    gauge("pool_size_current", "Threads", ({ threads }) => threads);
  }
}
