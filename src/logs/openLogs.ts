import type { ChainReader } from "../chain/chain.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import { smaller } from "../primitives/quantity.ts";
import type { BlockStore } from "../storage/blocks/blockStore.ts";
import { createLogFinder, type FindLogs } from "./findLogs.ts";
import { createLogIndex, type LogIndex } from "./logIndex.ts";
import { type BlockRange, createLogMatcher, type LogCriteria, type LogMatcher } from "./logQuery.ts";
import { createLogSearch } from "./logSearch.ts";

/** Log queries over any range, and the bloom index that makes them fast. */
export interface Logs {
  readonly index: LogIndex;
  readonly find: FindLogs;
  close(): Promise<void>;
}

export interface LogsSettings {
  /** Directory of the database, which this thread has open. */
  readonly databasePath: string;
  /** Directory of the bloom files. */
  readonly bloomFolder: string;
  /** --auto-log-bloom-caching-enabled: whether the index is written without a request. */
  readonly isIndexAutomatic: boolean;
  /** Delay between the start and the first write of the index; default START_DELAY_MS. */
  readonly indexDelayMs?: number;
}

export interface LogsParts {
  readonly chain: ChainReader;
  readonly blocks: Pick<BlockStore, "hasReceiptsInMemory">;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function openLogs(
  { databasePath, bloomFolder, isIndexAutomatic, indexDelayMs = START_DELAY_MS }: LogsSettings,
  { chain, blocks, clock, logger }: LogsParts,
): Logs {
  const index = createLogIndex(
    { databasePath, folder: bloomFolder, isAutomatic: isIndexAutomatic, delayMs: indexDelayMs },
    { chain, clock, logger },
  );
  const search = createLogSearch({
    databasePath,
    bloomFolder,
    clock,
    onInvalidSegment: index.reportInvalid,
  });
  const findInline = createLogFinder(chain);

  /** Whether the query is faster on this thread than a message to the worker thread. */
  function isQuick(criteria: LogCriteria, { from, to }: BlockRange): boolean {
    const head = chain.head.header.number;
    if (to - from >= FEW_BLOCKS && head - from >= FEW_BLOCKS) return false;
    // Created only when needed, because thousands of criteria take many milliseconds to prepare.
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
    async find(criteria, range, requester) {
      if (lacksBlocks(chain, range)) return { kind: "notStored" };
      return (isQuick(criteria, range) ? findInline : search.find)(criteria, range, requester);
    },
    async close() {
      await Promise.all([index.close(), search.close()]);
    },
  };
}

/** Whether a range has blocks before the start of the history: an empty list would say that they have no logs. */
function lacksBlocks(
  { historyStart, head }: Pick<ChainReader, "historyStart" | "head">,
  { from, to }: BlockRange,
): boolean {
  // The genesis block has no logs.
  const first = from > 1n ? from : 1n;
  return first < historyStart.blocks && first <= smaller(to, head.header.number);
}

/** Lets the more urgent parts of a start run first. */
const START_DELAY_MS = 5_000;

/** For so few blocks a message to the worker thread takes longer; clients that follow the chain query one or two. */
const FEW_BLOCKS = 16n;
/** Total gas of the blocks whose receipts must be read from disk; it allows a few thousand logs at most. */
const LITTLE_GAS = 3_000_000n;
