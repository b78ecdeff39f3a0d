import type { Metrics } from "../../observability/registry.ts";
import type { StateRemovalStatus } from "../../state/removal/stateRemover.ts";
import type { BlockRemovalStatus } from "../../storage/removal/blockRemover.ts";

/** Declares where blocks and states begin, and how much of those before is still to be removed. */
export function declareHistoryMetrics(
  metrics: Metrics,
  blocks: { readonly status: BlockRemovalStatus },
  states: { readonly status: StateRemovalStatus },
): void {
  if (!metrics.isEnabled("NODE")) return;
  const gauge = (name: string, help: string, read: () => number): void =>
    metrics.gauge({ category: "NODE", name, help }, read);
  gauge("block_history_first_block", "First block stored whole; 0 for all", () =>
    Number(blocks.status.start),
  );
  gauge(
    "block_history_blocks_to_remove",
    "Blocks before it whose transactions and receipts are still to be removed",
    () => blocks.status.left ?? Number.NaN,
  );
  gauge("state_history_first_block", "First block whose state is kept; 0 for all", () =>
    Number(states.status.start),
  );
  gauge(
    "state_history_blocks_to_remove",
    "Blocks before it whose states still take room on the disk",
    () => states.status.left ?? Number.NaN,
  );
  gauge(
    "state_history_nodes_moved",
    "Trie nodes that the newest removal of states has moved",
    () => states.status.nodes,
  );
  gauge(
    "state_history_pages_deleted",
    "Pages of trie nodes that the newest removal of states has deleted",
    () => states.status.pages,
  );
}
