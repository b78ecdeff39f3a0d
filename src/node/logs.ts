import { join } from "node:path";
import type { ChainReader } from "../chain/chain.ts";
import { createLogIndex, type LogIndex } from "../chain/logIndex.ts";
import type { Settings } from "../config/settings.ts";
import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import { createLogFinder, type FindLogs } from "../rpc/findLogs.ts";
import type { DataDirectory } from "./dataDirectory.ts";
import { createLogSearch } from "./logSearch.ts";

/** How logs are found, whatever the range, and the index that makes it quick. */
export interface Logs {
  readonly index: LogIndex;
  readonly find: FindLogs;
  close(): Promise<void>;
}

export interface LogsParts {
  readonly directory: Pick<DataDirectory, "path" | "chain">;
  readonly chain: ChainReader;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long after the start the index may be written; START_DELAY_MS unless given. */
  readonly indexDelayMs?: number;
}

export function openLogs(
  { rpc }: { readonly rpc: Pick<Settings["rpc"], "isLogIndexAutomatic"> },
  { directory, chain, clock, logger, indexDelayMs = START_DELAY_MS }: LogsParts,
): Logs {
  const files = { databasePath: directory.chain, bloomFolder: join(directory.path, "caches") };
  const index = createLogIndex(
    {
      databasePath: files.databasePath,
      folder: files.bloomFolder,
      isAutomatic: rpc.isLogIndexAutomatic,
      delayMs: indexDelayMs,
    },
    { chain, clock, logger },
  );
  const search = createLogSearch({ ...files, clock, onUnsound: index.distrust });
  const findHere = createLogFinder(chain);
  return {
    index,
    find(criteria, range, asker) {
      const { from, to } = range;
      const isShort = to - from < FEW_BLOCKS || chain.head.header.number - from < FEW_BLOCKS;
      return (isShort ? findHere : search.find)(criteria, range, asker);
    },
    async close() {
      await Promise.all([index.close(), search.close()]);
    },
  };
}

/** Other parts of a start are more urgent. */
const START_DELAY_MS = 5_000;

/** So few that asking another thread would take longer; those who follow the chain ask for one or two. */
const FEW_BLOCKS = 16n;
