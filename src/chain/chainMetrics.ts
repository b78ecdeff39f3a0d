import type { Metrics } from "../observability/registry.ts";
import type { Clock } from "../primitives/clock.ts";
import type { ChainReader } from "./chainReader.ts";
import type { FaultyWork } from "./executionFaults.ts";

/** Declares the metrics of the head and of block import (metrics.md#chain-and-sync). */
export function declareChainMetrics(
  metrics: Metrics,
  {
    chain,
    clock,
  }: {
    readonly chain: ChainReader & { onExecutionFault(listener: (during: FaultyWork) => void): void };
    readonly clock: Pick<Clock, "nowMs">;
  },
): void {
  const head = () => chain.head.header;
  const height = (): number => Number(head().number);
  let transactionCount = chain.blockByHash(chain.head.hash)?.transactions.length ?? 0;
  chain.onHeadChanged("metrics", ({ added }) => {
    const newest = added.at(-1) ?? chain.blockByHash(chain.head.hash);
    transactionCount = newest?.transactions.length ?? 0;
  });
  const totalDifficulty = (): number => Number(chain.head.totalDifficulty);

  metrics.gauge(
    { category: "ETHEREUM", name: "blockchain_height", help: "Number of the newest block" },
    height,
  );
  metrics.gauge({ category: "BLOCKCHAIN", name: "height", help: "Number of the newest block" }, height);
  for (const name of ["difficulty_total", "difficulty"]) {
    metrics.gauge(
      { category: "BLOCKCHAIN", name, help: "Total difficulty of the newest block" },
      totalDifficulty,
    );
  }
  const gauge = (name: string, help: string, read: () => number): void =>
    metrics.gauge(
      { category: "BLOCKCHAIN", name: `chain_head_${name}`, help: `${help} of the newest block` },
      read,
    );
  gauge("timestamp", "Timestamp, seconds since 1970,", () => Number(head().timestamp));
  gauge("gas_used", "Gas used", () => Number(head().gasUsed));
  gauge("gas_limit", "Gas limit", () => Number(head().gasLimit));
  gauge("transaction_count", "Number of transactions", () => transactionCount);
  gauge("ommer_count", "Number of ommers", () => 0);
  metrics.gauge(
    { category: "NODE", name: "head_age_seconds", help: "Time since the timestamp of the newest block" },
    () => clock.nowMs() / 1000 - Number(head().timestamp),
  );
  countBlocks(metrics, chain);
  const faults = metrics.counter({
    category: "NODE",
    name: "execution_faults",
    help: "Executions that failed by a fault of this node, while a block was built or checked",
    labels: ["during"],
  });
  chain.onExecutionFault((during) => faults.with(during).increment());
}

/** Counters whose rates are gas and transactions per second. */
function countBlocks(metrics: Metrics, chain: ChainReader): void {
  const gasUsed = metrics.counter({
    category: "BLOCKCHAIN",
    name: "chain_head_gas_used_counter",
    help: "Gas used by all blocks since the start",
  });
  const transactions = metrics.counter({
    category: "BLOCKCHAIN",
    name: "chain_head_transaction_count_counter",
    help: "Transactions of all blocks since the start",
  });
  chain.onHeadChanged("metrics", ({ added }) => {
    for (const block of added) {
      gasUsed.with().increment(Number(block.header.gasUsed));
      transactions.with().increment(block.transactions.length);
    }
  });
}
