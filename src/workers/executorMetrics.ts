import type { Metrics } from "../observability/registry.ts";
import { threadFailures } from "./threadFailures.ts";
import type { WorkLoad } from "./workLoad.ts";

/** The load of a worker pool. */
export interface Executor {
  readonly load: WorkLoad;
}

/**
 * Declares worker threads and queues under the names of Besu's executors for the same work
 * (metrics.md#process-and-runtime): simulated calls are `computation`, signature recovery is `transactions`.
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
    gauge("queue_length_current", "Tasks waiting for a thread", ({ waiting }) => waiting);
    gauge("active_threads_current", "Busy threads", ({ active }) => active);
    gauge("pool_size_current", "Threads", ({ threads }) => threads);
  }
  metrics.family(
    {
      category: "NODE",
      name: "thread_failures_total",
      help: "Threads that ended by a failure and were started again, by their file",
      type: "counter",
      labels: ["thread"],
    },
    () => [...threadFailures()].map(([thread, count]) => [[thread], count] as const),
  );
}
