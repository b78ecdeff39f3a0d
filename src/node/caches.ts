import { INDEX_CACHE_BYTES } from "../accounts/accountIndex.ts";
import { VIEW_LIMITS } from "../chain/view/limits.ts";
import type { Settings } from "../config/settings.ts";
import type { Logger } from "../observability/logger.ts";
import { DEFAULT_HISTORY_LIMITS } from "../state/stateHistory.ts";
import { DEFAULT_WORLD_STATE_LIMITS } from "../state/worldState.ts";
import { BLOCK_STORE_LIMITS } from "../storage/blocks/blockStore.ts";
import {
  DATABASE_CACHE_BYTES,
  MAPPED_TABLES,
  OPEN_TABLES,
  WRITE_BUFFER_BYTES,
} from "../storage/leveldb/levelDatabase.ts";
import { bytesWhenFull, type CacheSizes, shareMemory } from "./host/cacheSizes.ts";
import type { ChainReaders } from "./host/chainReaders.ts";
import { hostLimits, tableDescriptors } from "./host/hostLimits.ts";

/** The sizes that each part has use for. */
export const WHOLE_CACHES: CacheSizes = {
  database: DATABASE_CACHE_BYTES,
  writeBuffer: WRITE_BUFFER_BYTES,
  openTables: OPEN_TABLES,
  accountIndex: INDEX_CACHE_BYTES,
  state: DEFAULT_WORLD_STATE_LIMITS,
  blocks: BLOCK_STORE_LIMITS,
  view: VIEW_LIMITS,
  history: DEFAULT_HISTORY_LIMITS,
};

/** Shares out the memory of the machine, or what its container or the operator leaves of it. */
export function cachesOf(
  settings: Settings,
  { callers, visitors, indexers }: ChainReaders,
  logger: Logger,
): CacheSizes {
  const limits = hostLimits();
  const { memoryBytes = limits.memoryBytes } = settings;
  const readers = callers + visitors + indexers;
  const openTables = Math.min(OPEN_TABLES, MAPPED_TABLES + tableDescriptors(limits));
  const caches = shareMemory({ ...WHOLE_CACHES, openTables }, memoryBytes, readers);
  const megabytes = (bytes: number): number => Math.round(bytes / 1024 ** 2);
  logger.debug(
    { memoryMb: megabytes(memoryBytes), whenFullMb: megabytes(bytesWhenFull(caches, readers)) },
    "memory was allotted to caches: the node takes whenFullMb once they are full",
  );
  return caches;
}
