import type { WorldStateLimits } from "../../state/worldState.ts";
import type { BlockStoreLimits } from "../../storage/blocks/blockStore.ts";

const MEGABYTE = 1024 * 1024;

/** Caches of one view: each thread that answers callers has its own. Those of the head's state are emptied with each block. */
export const VIEW_STATE_LIMITS: WorldStateLimits = {
  pageCacheBytes: 8 * MEGABYTE,
  codeCacheBytes: 16 * MEGABYTE,
  nodeCacheBytes: 4 * MEGABYTE,
  accountCacheBytes: 8 * MEGABYTE,
  slotCacheBytes: 8 * MEGABYTE,
};

/** A block of 12,000 transfers of tokens fits. */
export const VIEW_STORE_LIMITS: BlockStoreLimits = { headers: 1024, blockBytes: 48 * MEGABYTE };
