import type { Metrics } from "../observability/registry.ts";
import type { TransactionType } from "../types/transaction.ts";
import { LAYERS, REJECTION_REASONS, REMOVAL_OPERATIONS } from "./besuNames.ts";
import { LEAVING_REASONS, type RemovalCause, type SubPool } from "./events.ts";
import type { TxPoolLimits } from "./limits.ts";
import type { PoolBreakdown, SubPoolBreakdown } from "./subPoolCounts.ts";
import type { TxPool } from "./txPool.ts";

/**
 * Declares the metrics of both of Besu's pools (metrics.md#transaction-pool): by layer as in its layered pool, the default,
 * and in total as in its sequenced one, which existing alert rules still name.
 */
export function declarePoolMetrics(
  metrics: Metrics,
  pool: TxPool,
  limits: Pick<TxPoolLimits, "maxTransactions" | "maxBytes">,
): void {
  if (metrics.isEnabled(category)) {
    countBySubPool(metrics, pool);
    countWholePool(metrics, pool);
    declareSubPoolGauges(metrics, pool);
  }
  const left = metrics.counter({
    category,
    prefix: "tx_",
    name: "pool_left_total",
    help: "Transactions that left the pool, by reason",
    labels: ["reason", "source"],
  });
  pool.onRemoved(({ entry, cause }) => left.with(LEAVING_REASONS[cause], entry.origin).increment());
  metrics.gauge(
    {
      category,
      prefix: "tx_",
      name: "pool_fill_ratio",
      help: "Share of the pool that is used, of its transactions or of its bytes, whichever is larger",
    },
    () => {
      const { pending, queued, bytes } = pool.statistics;
      return Math.max((pending + queued) / limits.maxTransactions, bytes / limits.maxBytes);
    },
  );
  metrics.gauge(
    { category: "ETHEREUM", name: "min_gas_price", help: "Lowest gas price in our blocks, wei" },
    () => Number(pool.blockFloors.minGasPriceWei),
  );
  metrics.gauge(
    { category: "ETHEREUM", name: "min_priority_fee", help: "Lowest priority fee in our blocks, wei" },
    () => Number(pool.blockFloors.minPriorityFeeWei),
  );
  // Besu's, which dashboards expect; nothing counts them here.
  metrics.counter({
    category,
    name: "messages_expired_total",
    help: "Transaction messages that expired before they were processed",
    labels: ["message"],
  });
  metrics.counter({
    category,
    name: "remote_transactions_already_seen_total",
    help: "Transactions that peers announced again",
    labels: ["message"],
  });
}

interface Labelled {
  readonly origin: string;
  readonly isPrioritized: boolean;
}

const category = "TRANSACTION_POOL";

function countBySubPool(metrics: Metrics, pool: TxPool): void {
  const added = metrics.counter({
    category,
    name: "added_total",
    help: "Transactions added to the pool",
    labels: ["source", "priority", "layer"],
  });
  const removed = metrics.counter({
    category,
    name: "removed_total",
    help: "Transactions that left the pool",
    labels: ["source", "priority", "operation", "layer"],
  });
  const rejected = metrics.counter({
    category,
    name: "rejected_total",
    help: "Transactions that the pool rejected",
    labels: ["source", "priority", "reason", "layer"],
  });
  pool.onAdded((entry, subPool) => added.with(entry.origin, priorityOf(entry), LAYERS[subPool]).increment());
  pool.onRemoved(({ entry, cause, subPool }) =>
    removed.with(entry.origin, priorityOf(entry), REMOVAL_OPERATIONS[cause], LAYERS[subPool]).increment(),
  );
  pool.onRefused((refused) =>
    rejected
      .with(refused.origin, priorityOf(refused), REJECTION_REASONS[refused.code], WHOLE_POOL)
      .increment(),
  );
}

/** Besu's label for transactions rejected before any layer. */
const WHOLE_POOL = "txpool";

function priorityOf({ isPrioritized }: Labelled): string {
  return isPrioritized ? "yes" : "no";
}

function countWholePool(metrics: Metrics, pool: TxPool): void {
  const added = metrics.counter({
    category,
    name: "transactions_added_total",
    help: "Transactions added to the pool",
    labels: ["source"],
  });
  const removed = metrics.counter({
    category,
    name: "transactions_removed_total",
    help: "Transactions that left the pool",
    labels: ["source", "operation"],
  });
  const rejected = metrics.counter({
    category,
    prefix: "tx_",
    name: "rejected_total",
    help: "Transactions that the pool rejected",
    labels: ["reason", "source"],
  });
  metrics.gauge({ category, name: "transactions", help: "Transactions in the pool" }, () => {
    const { pending, queued } = pool.statistics;
    return pending + queued;
  });
  pool.onAdded(({ origin }) => added.with(origin).increment());
  pool.onRemoved(({ entry, cause }) => removed.with(entry.origin, wholeOperation(cause)).increment());
  pool.onRefused(({ code, origin }) => rejected.with(REJECTION_REASONS[code], origin).increment());
}

function wholeOperation(cause: RemovalCause): string {
  return cause === "mined" || cause === "superseded" ? "addedToBlock" : "dropped";
}

/** Walks over the whole pool once per reading, for all gauges. */
function declareSubPoolGauges(metrics: Metrics, pool: TxPool): void {
  let breakdown = pool.breakdown();
  metrics.beforeRead(async () => {
    breakdown = pool.breakdown();
  });
  const show = (name: string, help: string, of: (subPool: SubPoolBreakdown) => number): void =>
    metrics.gauges({ category, name, help, labels: ["layer"] }, () =>
      subPoolsOf(breakdown).map(([layer, subPool]) => [[layer], of(subPool)] as const),
    );
  show("number_of_transactions", "Transactions in a layer", ({ transactions }) => transactions);
  show("space_used", "Bytes of the transactions in a layer", ({ bytes }) => bytes);
  show("unique_senders", "Senders with transactions in a layer", ({ senders }) => senders);
  metrics.gauges(
    {
      category,
      name: "number_of_transactions_by_type",
      help: "Transactions of a type in a layer",
      labels: ["layer", "type"],
    },
    () =>
      subPoolsOf(breakdown).flatMap(([layer, { byType }]) =>
        TYPE_NAMES.map((name, type) => [[layer, name], byType.get(type as TransactionType) ?? 0] as const),
      ),
  );
}

/** Besu's type names, by type number. */
const TYPE_NAMES = ["FRONTIER", "ACCESS_LIST", "EIP1559", "BLOB", "DELEGATE_CODE"] as const;

const EMPTY: SubPoolBreakdown = { transactions: 0, bytes: 0, senders: 0, byType: new Map() };

/** Adds Besu's middle layer, which is always empty here, so that its panels show a zero. */
function subPoolsOf(breakdown: PoolBreakdown): readonly (readonly [string, SubPoolBreakdown])[] {
  const subPools: readonly SubPool[] = ["pending", "queued"];
  return [
    ...subPools.map((subPool) => [LAYERS[subPool], breakdown[subPool]] as const),
    ["ready", EMPTY] as const,
  ];
}
