import { toQuantity } from "../../primitives/quantity.ts";
import type { SyncStatus } from "../../sync/syncProgress.ts";
import type { Json } from "../method.ts";

/** The sync status, or false when the node is not syncing (json-rpc.md#eth_syncing). */
export function syncingResult(status: SyncStatus | undefined): Json {
  if (status === undefined) return false;
  return {
    startingBlock: toQuantity(status.startingBlock),
    currentBlock: toQuantity(status.currentBlock),
    highestBlock: toQuantity(status.highestBlock),
  };
}
