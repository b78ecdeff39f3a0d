import { join } from "node:path";
import type { ChainReader } from "../chain/chain.ts";
import type { Settings } from "../config/settings.ts";
import { createLogFinder, type FindLogs } from "../logs/findLogs.ts";
import { createLogIndex, type LogIndex } from "../logs/logIndex.ts";
import { type BlockRange, createLogMatcher, type LogCriteria, type LogMatcher } from "../logs/logQuery.ts";
import { createLogSearch } from "../logs/logSearch.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import type { BlockStore } from "../storage/blocks/blockStore.ts";
import type { DataDirectory } from "./dataDirectory.ts";

/** How logs are found, whatever the range, and the index that makes it quick. */
export interface Logs {
  readonly index: LogIndex;
  readonly find: FindLogs;
  close(): Promise<void>;
}

export interface LogsParts {
  readonly directory: Pick<DataDirectory, "path" | "chain">;
  readonly chain: ChainReader;
  readonly blocks: Pick<BlockStore, "hasReceiptsInMemory">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long after the start the index may be written; START_DELAY_MS unless given. */
  readonly indexDelayMs?: number;
}

export function openLogs(
  { rpc }: { readonly rpc: Pick<Settings["rpc"], "isLogIndexAutomatic"> },
  { directory, chain, blocks, clock, logger, indexDelayMs = START_DELAY_MS }: LogsParts,
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
  const search = createLogSearch({ ...files, clock, onInvalidSegment: index.reportInvalid });
  const findHere = createLogFinder(chain);

  /** Whether this thread finds them as fast as the message to another one would take. */
  function isQuick(criteria: LogCriteria, { from, to }: BlockRange): boolean {
    const head = chain.head.header.number;
    if (to - from >= FEW_BLOCKS && head - from >= FEW_BLOCKS) return false;
    // Thousands of criteria take many milliseconds to be made ready.
    let matcher: LogMatcher | undefined;
    let gasToRead = 0n;
    for (let number = from; number <= to && number <= head; number++) {
      const header = chain.headerByNumber(number)?.header;
      if (header === undefined || header.gasUsed === 0n || blocks.hasReceiptsInMemory(number)) continue;
      matcher ??= createLogMatcher(criteria);
      if (matcher.mayMatch(header.logsBloom)) gasToRead += header.gasUsed;
    }
    return gasToRead <= LITTLE_GAS;
  }

  return {
    index,
    find(criteria, range, requester) {
      return (isQuick(criteria, range) ? findHere : search.find)(criteria, range, requester);
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
/** Of blocks whose receipts have to be read: they hold a few thousand logs at most. */
const LITTLE_GAS = 3_000_000n;
