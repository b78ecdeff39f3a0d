import type { Metrics } from "../../observability/registry.ts";
import type { BlockRemovalStatus } from "../../storage/removal/blockRemover.ts";

/** Declares where the blocks begin, and how many are still to be removed before that. */
export function declareBlockRemovalMetrics(
  metrics: Metrics,
  remover: { readonly status: BlockRemovalStatus },
): void {
  if (!metrics.isEnabled("NODE")) return;
  metrics.gauge(
    { category: "NODE", name: "block_history_first_block", help: "First block stored whole; 0 for all" },
    () => Number(remover.status.start),
  );
  metrics.gauge(
    {
      category: "NODE",
      name: "block_history_blocks_to_remove",
      help: "Blocks before it whose transactions and receipts are still to be removed",
    },
    () => remover.status.left ?? Number.NaN,
  );
}
