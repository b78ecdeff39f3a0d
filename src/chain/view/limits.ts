import type { WorldStateLimits } from "../../state/worldState.ts";
import type { BlockStoreLimits } from "../../storage/blocks/blockStore.ts";

const MEGABYTE = 1024 * 1024;

/** Caches of one view: each thread that answers callers has its own, as has the one that writes the index by address. */
export interface ViewLimits {
  /** Caches of states; those of the head's state are emptied with each block. */
  readonly state: WorldStateLimits;
  readonly blocks: BlockStoreLimits;
}

/** The sizes when memory is no concern. */
export const VIEW_LIMITS: ViewLimits = {
  state: {
    pageCacheBytes: 8 * MEGABYTE,
    codeCacheBytes: 16 * MEGABYTE,
    nodeCacheBytes: 4 * MEGABYTE,
    accountCacheBytes: 8 * MEGABYTE,
    slotCacheBytes: 8 * MEGABYTE,
  },
  /** A block of 12,000 token transfers fits. */
  blocks: { headers: 1024, blockBytes: 48 * MEGABYTE },
};
