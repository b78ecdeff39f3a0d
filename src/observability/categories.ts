/**
 * Metric categories and the prefixes of their names (metrics.md#naming-rules): Besu's values of `--metrics-category`, and
 * BFT and NODE, which Besu does not have.
 */
export const METRIC_PREFIXES = {
  BLOCKCHAIN: "besu_blockchain_",
  ETHEREUM: "ethereum_",
  EXECUTORS: "besu_executors_",
  NETWORK: "besu_network_",
  PEERS: "besu_peers_",
  PERMISSIONING: "besu_permissioning_",
  PRUNER: "besu_pruner_",
  RPC: "besu_rpc_",
  STRATUM: "besu_stratum_",
  SYNCHRONIZER: "besu_synchronizer_",
  TRANSACTION_POOL: "besu_transaction_pool_",
  JVM: "jvm_",
  PROCESS: "process_",
  KVSTORE_ROCKSDB: "besu_rocksdb_",
  KVSTORE_PRIVATE_ROCKSDB: "besu_private_rocksdb_",
  KVSTORE_ROCKSDB_STATS: "rocksdb_",
  KVSTORE_PRIVATE_ROCKSDB_STATS: "private_rocksdb_",
  BFT: "bft_",
  NODE: "node_",
} as const;

export type MetricCategory = keyof typeof METRIC_PREFIXES;

export const METRIC_CATEGORIES = Object.keys(METRIC_PREFIXES) as readonly MetricCategory[];

/** All categories except those of Besu's key-value store. */
export const DEFAULT_METRIC_CATEGORIES: readonly MetricCategory[] = METRIC_CATEGORIES.filter(
  (category) => !category.startsWith("KVSTORE_"),
);

/** Accepted because Besu has them; this node has no metrics for them. */
export const EMPTY_METRIC_CATEGORIES: ReadonlySet<MetricCategory> = new Set(
  METRIC_CATEGORIES.filter(
    (category) =>
      category.startsWith("KVSTORE_") || ["PERMISSIONING", "PRUNER", "STRATUM"].includes(category),
  ),
);
