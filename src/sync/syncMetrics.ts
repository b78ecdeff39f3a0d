import type { Metrics } from "../observability/registry.ts";
import type { OnProcessed } from "./context.ts";
import type { SyncStatus } from "./syncProgress.ts";

/** Declares how far the chain is behind (metrics.md#peers-and-network), with Besu's names that say nothing here, because dashboards expect them. */
export function declareSyncMetrics(
  metrics: Metrics,
  {
    headNumber,
    syncStatus,
  }: {
    headNumber(): bigint;
    /** Undefined when in sync. */
    syncStatus(): SyncStatus | undefined;
  },
): void {
  const bestKnown = (): number => Number(syncStatus()?.highestBlock ?? headNumber());
  const help = "Number of the highest known block";
  metrics.gauge({ category: "ETHEREUM", name: "best_known_block_number", help }, bestKnown);
  metrics.gauge({ category: "SYNCHRONIZER", name: "best_known_block", help }, bestKnown);
  metrics.gauge({ category: "SYNCHRONIZER", name: "in_sync", help: "1 when in sync, 0 while behind" }, () =>
    syncStatus() === undefined ? 1 : 0,
  );
  metrics.gauge(
    {
      category: "SYNCHRONIZER",
      name: "fast_sync_pivot_block_current",
      help: "Always 0: every block is executed",
    },
    () => 0,
  );
  metrics.summary({
    category: "SYNCHRONIZER",
    name: "task",
    help: "Duration of sync tasks, seconds",
    labels: ["taskName"],
  });
}

/** Counts what the steps of a download far behind the head do. */
export function createProcessedCounter(metrics: Metrics | undefined): OnProcessed {
  const processed = metrics?.counter({
    category: "SYNCHRONIZER",
    name: "chain_download_pipeline_processed_total",
    help: "Items that a step of a download far behind the head took in or was done with",
    labels: ["step", "action"],
  });
  return (step, action, count) => processed?.with(step, action).increment(count);
}
