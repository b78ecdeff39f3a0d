import { bigintType, countType, decimalType, longType, millisecondsType } from "../valueTypes.ts";
import { withoutEffect } from "./option.ts";

const group = "Synchronization and storage";
const bonsai = withoutEffect({
  group,
  noEffect: "it belongs to the BONSAI format; this node keeps every state",
});
const fast = withoutEffect({
  group,
  noEffect: "it belongs to FAST synchronization; this node executes every block",
});
const snap = withoutEffect({
  group,
  noEffect: "it belongs to SNAP synchronization, which BFT networks cannot use",
});
const java = withoutEffect({ group, noEffect: "this node has other means and needs no such setting" });
const later = withoutEffect({ group, noEffect: "old blocks are never dropped in this version" });
const rocks = withoutEffect({ group, noEffect: "the database is not RocksDB" });

/** Of storage formats and ways to synchronize that this node does not have. */
export const FOREIGN_SYNC_OPTIONS = {
  "bonsai-historical-block-limit": bonsai.valued(longType, 512n, "States that stay readable.", {
    aliases: ["bonsai-maximum-back-layers-to-load"],
  }),
  "bonsai-limit-trie-logs-enabled": bonsai.switched(true, "Drop logs of old states.", {
    aliases: ["Xbonsai-limit-trie-logs-enabled", "Xbonsai-trie-log-pruning-enabled"],
  }),
  "bonsai-trie-logs-pruning-window-size": bonsai.valued(countType, 30_000, "Logs dropped at a time.", {
    aliases: ["Xbonsai-trie-logs-pruning-window-size"],
  }),
  "Xbonsai-full-flat-db-enabled": bonsai.switched(true, "Keep accounts beside the trie.", {
    aliases: ["Xsnapsync-synchronizer-flat-db-healing-enabled"],
  }),
  "Xbonsai-code-using-code-hash-enabled": bonsai.switched(true, "Keep code by its hash."),

  "Xchain-pruning-enabled": later.switched(false, "Drop old blocks."),
  "Xchain-pruning-blocks-retained": later.valued(countType, 7200, "Newest blocks that are kept."),
  "Xchain-pruning-blocks-retained-limit": later.valued(countType, 7200, "Lowest number for those."),
  "Xchain-pruning-frequency": later.valued(countType, 256, "Blocks dropped at a time."),

  "Xplugin-rocksdb-max-open-files": rocks.valued(countType, 1024, "Files held open."),
  "Xplugin-rocksdb-background-thread-count": rocks.valued(countType, 4, "Threads that compact."),
  "Xplugin-rocksdb-high-spec-enabled": rocks.switched(false, "Use more memory."),

  "Xsynchronizer-downloader-change-target-threshold-by-td": java.valued(
    bigintType({ label: "<INTEGER>", max: 2n ** 256n - 1n, convertsTo: "UInt256" }),
    1_000_000_000_000_000_000n,
    "Difficulty by which another peer must be ahead to follow that one.",
  ),
  "Xsynchronizer-downloader-checkpoint-RETRIES": java.valued(countType, 5, "Timeouts forgiven.", {
    aliases: ["Xsynchronizer-downloader-checkpoint-timeouts-permitted"],
  }),
  "Xsynchronizer-transactions-parallelism": java.valued(countType, 4, "Threads for transactions."),
  "Xsynchronizer-computation-parallelism": java.optional(countType, "Threads for computation.", {
    defaultText: "the number of processors",
  }),

  "Xsynchronizer-fast-sync-pivot-distance": fast.valued(
    countType,
    50,
    "Distance of the pivot from the head.",
  ),
  "Xsynchronizer-fast-sync-full-validation-rate": fast.valued(
    decimalType({ label: "<FRACTION>", min: 0, max: 1 }),
    0.1,
    "Share of headers checked in full.",
  ),
  "Xsynchronizer-world-state-hash-count-per-request": fast.valued(
    countType,
    384,
    "Hashes asked for at a time.",
  ),
  "Xsynchronizer-world-state-request-parallelism": fast.valued(countType, 10, "Requests at a time."),
  "Xsynchronizer-world-state-max-requests-without-progress": fast.valued(
    countType,
    1000,
    "Requests without progress before giving up.",
  ),
  "Xsynchronizer-world-state-min-millis-before-stalling": fast.valued(
    millisecondsType,
    300_000,
    "Time without progress before giving up.",
  ),
  "Xsynchronizer-world-state-task-cache-size": fast.optional(countType, "Tasks kept in memory."),

  "Xsnapsync-synchronizer-pivot-block-window-validity": snap.valued(
    countType,
    126,
    "Blocks a pivot is good for.",
  ),
  "Xsnapsync-synchronizer-pivot-block-distance-before-caching": snap.valued(
    countType,
    60,
    "Distance at which the next pivot is kept.",
  ),
  "Xsnapsync-synchronizer-storage-count-per-request": snap.valued(
    countType,
    384,
    "Slots asked for at a time.",
  ),
  "Xsnapsync-synchronizer-bytecode-count-per-request": snap.valued(
    countType,
    84,
    "Codes asked for at a time.",
  ),
  "Xsnapsync-synchronizer-trienode-count-per-request": snap.valued(
    countType,
    384,
    "Nodes asked for at a time.",
  ),
  "Xsnapsync-synchronizer-flat-account-healed-count-per-request": snap.valued(
    countType,
    128,
    "Accounts healed at a time.",
  ),
  "Xsnapsync-synchronizer-flat-slot-healed-count-per-request": snap.valued(
    countType,
    1024,
    "Slots healed at a time.",
  ),
  "Xsnapsync-server-enabled": snap.switched(false, "Serve states to peers."),
  "Xcheckpoint-post-merge-enabled": snap.switched(false, "Begin at a block after the merge."),
} as const;
