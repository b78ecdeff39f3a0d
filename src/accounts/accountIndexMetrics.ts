import type { Metrics } from "../observability/registry.ts";
import type { IndexProgress } from "./indexer.ts";

/** Declares how far the index by address is, and its size. NaN before the index was heard of. */
export function declareAccountIndexMetrics(
  metrics: Metrics,
  index: { readonly progress: IndexProgress | undefined },
): void {
  if (!metrics.isEnabled("NODE")) return;
  const of = (value: (progress: IndexProgress) => number) => (): number =>
    index.progress === undefined ? Number.NaN : value(index.progress);
  metrics.gauge(
    { category: "NODE", name: "explorer_index_size_bytes", help: "Size of the index by address, about" },
    of(({ bytes }) => bytes),
  );
  metrics.gauge(
    { category: "NODE", name: "explorer_index_first_block", help: "First block in the index by address" },
    of(({ first }) => first),
  );
  metrics.gauge(
    {
      category: "NODE",
      name: "explorer_index_blocks_behind",
      help: "Blocks that the index by address lacks",
    },
    of(({ next, head }) => Math.max(head + 1 - next, 0)),
  );
}
