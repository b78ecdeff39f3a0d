import type { ChainReader } from "../chain/chainReader.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import type { BlockStore } from "../storage/blocks/blockStore.ts";
import { createLogFinder, type FindLogs } from "./findLogs.ts";
import { LogIndex } from "./logIndex.ts";
import { LogSearch } from "./logSearch.ts";

/** Log queries over any range, and the bloom index that makes them fast. */
export interface Logs {
  readonly index: LogIndex;
  readonly find: FindLogs;
  close(): Promise<void>;
}

interface LogsSettings {
  /** Directory of the database, which this thread has open. */
  readonly databasePath: string;
  /** Directory of the bloom files. */
  readonly bloomFolder: string;
  /** Whether the index is written without a request (--auto-log-bloom-caching-enabled). */
  readonly isIndexAutomatic: boolean;
  /** Delay between the start and the first write of the index; default START_DELAY_MS. */
  readonly indexDelayMs?: number;
}

interface LogsParts {
  readonly chain: ChainReader;
  readonly blocks: Pick<BlockStore, "hasReceiptsInMemory">;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function openLogs(
  { databasePath, bloomFolder, isIndexAutomatic, indexDelayMs = START_DELAY_MS }: LogsSettings,
  { chain, blocks, clock, logger }: LogsParts,
): Logs {
  const index = new LogIndex(
    { databasePath, folder: bloomFolder, isAutomatic: isIndexAutomatic, delayMs: indexDelayMs },
    { chain, clock, logger },
  );
  const search = new LogSearch({
    databasePath,
    bloomFolder,
    clock,
    onInvalidSegment: index.reportInvalid,
  });
  return {
    index,
    find: createLogFinder(chain, blocks, search.find),
    async close() {
      await Promise.all([index.close(), search.close()]);
    },
  };
}

/** Delay that lets the more urgent parts of a start run first. */
const START_DELAY_MS = 5_000;
