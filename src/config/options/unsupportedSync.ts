import { bigintType, countType, decimalType, longType, millisecondsType } from "../valueTypes.ts";
import { withoutEffect } from "./option.ts";

const group = "Synchronization and storage";
const bonsai = withoutEffect({
  group,
  noEffect: "it belongs to the BONSAI format; --state-history limits which states this node keeps",
});
const fastSync = withoutEffect({
  group,
  noEffect: "it belongs to FAST synchronization; this node executes every block",
});
const snapSync = withoutEffect({
  group,
  noEffect: "it belongs to SNAP synchronization, which BFT networks cannot use",
});
const tuning = withoutEffect({ group, noEffect: "this node works differently and has no such setting" });
const pruning = withoutEffect({ group, noEffect: "old blocks are removed by --block-history instead" });
const rocksDb = withoutEffect({ group, noEffect: "the database is not RocksDB" });

/** Options of storage formats and sync modes that this node does not have. */
export const UNSUPPORTED_SYNC_OPTIONS = {
  "bonsai-historical-block-limit": bonsai.valued(longType, 512n, "Number of states that stay readable.", {
    aliases: ["bonsai-maximum-back-layers-to-load"],
  }),
  "bonsai-limit-trie-logs-enabled": bonsai.switched(true, "Drop trie logs of old states.", {
    aliases: ["Xbonsai-limit-trie-logs-enabled", "Xbonsai-trie-log-pruning-enabled"],
  }),
  "bonsai-trie-logs-pruning-window-size": bonsai.valued(
    countType,
    30_000,
    "Number of trie logs dropped at a time.",
    {
      aliases: ["Xbonsai-trie-logs-pruning-window-size"],
    },
  ),
  "Xbonsai-full-flat-db-enabled": bonsai.switched(true, "Store accounts in a flat database, too.", {
    aliases: ["Xsnapsync-synchronizer-flat-db-healing-enabled"],
  }),
  "Xbonsai-code-using-code-hash-enabled": bonsai.switched(true, "Store code by its hash."),

  "Xchain-pruning-enabled": pruning.switched(false, "Drop old blocks."),
  "Xchain-pruning-blocks-retained": pruning.valued(countType, 7200, "Number of newest blocks to keep."),
  "Xchain-pruning-blocks-retained-limit": pruning.valued(
    countType,
    7200,
    "Minimum of --Xchain-pruning-blocks-retained.",
  ),
  "Xchain-pruning-frequency": pruning.valued(countType, 256, "Number of blocks dropped at a time."),

  "Xplugin-rocksdb-max-open-files": rocksDb.valued(countType, 1024, "Maximum number of open files."),
  "Xplugin-rocksdb-background-thread-count": rocksDb.valued(countType, 4, "Threads for compaction."),
  "Xplugin-rocksdb-high-spec-enabled": rocksDb.switched(false, "Use more memory."),

  "Xsynchronizer-downloader-change-target-threshold-by-td": tuning.valued(
    bigintType({ label: "<INTEGER>", max: 2n ** 256n - 1n, convertsTo: "UInt256" }),
    1_000_000_000_000_000_000n,
    "Lead in total difficulty that another peer needs to become the sync target.",
  ),
  "Xsynchronizer-downloader-checkpoint-RETRIES": tuning.valued(countType, 5, "Number of timeouts allowed.", {
    aliases: ["Xsynchronizer-downloader-checkpoint-timeouts-permitted"],
  }),
  "Xsynchronizer-transactions-parallelism": tuning.valued(countType, 4, "Threads for transactions."),
  "Xsynchronizer-computation-parallelism": tuning.optional(countType, "Threads for computation.", {
    defaultText: "the number of processors",
  }),

  "Xsynchronizer-fast-sync-pivot-distance": fastSync.valued(
    countType,
    50,
    "Distance of the pivot from the head.",
  ),
  "Xsynchronizer-fast-sync-full-validation-rate": fastSync.valued(
    decimalType({ label: "<FRACTION>", min: 0, max: 1 }),
    0.1,
    "Share of headers checked in full.",
  ),
  "Xsynchronizer-world-state-hash-count-per-request": fastSync.valued(countType, 384, "Hashes per request."),
  "Xsynchronizer-world-state-request-parallelism": fastSync.valued(countType, 10, "Concurrent requests."),
  "Xsynchronizer-world-state-max-requests-without-progress": fastSync.valued(
    countType,
    1000,
    "Requests without progress before giving up.",
  ),
  "Xsynchronizer-world-state-min-millis-before-stalling": fastSync.valued(
    millisecondsType,
    300_000,
    "Time without progress before giving up.",
  ),
  "Xsynchronizer-world-state-task-cache-size": fastSync.optional(countType, "Tasks kept in memory."),

  "Xsnapsync-synchronizer-pivot-block-window-validity": snapSync.valued(
    countType,
    126,
    "Blocks for which a pivot stays valid.",
  ),
  "Xsnapsync-synchronizer-pivot-block-distance-before-caching": snapSync.valued(
    countType,
    60,
    "Distance at which the next pivot is cached.",
  ),
  "Xsnapsync-synchronizer-storage-count-per-request": snapSync.valued(countType, 384, "Slots per request."),
  "Xsnapsync-synchronizer-bytecode-count-per-request": snapSync.valued(
    countType,
    84,
    "Contract codes per request.",
  ),
  "Xsnapsync-synchronizer-trienode-count-per-request": snapSync.valued(
    countType,
    384,
    "Trie nodes per request.",
  ),
  "Xsnapsync-synchronizer-flat-account-healed-count-per-request": snapSync.valued(
    countType,
    128,
    "Accounts healed per request.",
  ),
  "Xsnapsync-synchronizer-flat-slot-healed-count-per-request": snapSync.valued(
    countType,
    1024,
    "Slots healed per request.",
  ),
  "Xsnapsync-server-enabled": snapSync.switched(false, "Serve states to peers."),
  "Xcheckpoint-post-merge-enabled": snapSync.switched(false, "Begin at a block after the merge."),
} as const;
