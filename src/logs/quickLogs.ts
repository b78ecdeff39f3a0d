import type { ChainReader } from "../chain/chain.ts";
import { smaller } from "../primitives/quantity.ts";
import type { Requester } from "../primitives/requester.ts";
import type { Header } from "../types/header.ts";
import { type FoundLogs, findMatching } from "./findLogs.ts";
import { createLogMatcher, type LogCriteria, type LogMatcher, prepareLogMatcher } from "./logMatcher.ts";
import type { BlockRange } from "./logQuery.ts";

/** Answers queries that are faster on this thread than by a message to another one; undefined for all others. */
export type FindQuickly = (
  criteria: LogCriteria,
  range: BlockRange,
  requester: Requester,
) => Promise<FoundLogs | undefined>;

export function createQuickFinder(
  chain: ChainReader,
  blocks: { hasReceiptsInMemory(number: bigint): boolean },
): FindQuickly {
  /** Headers of the blocks in the range that have logs; undefined where the range has more than FEW_BLOCKS. */
  function headersWithLogs({ from, to }: BlockRange): readonly Header[] | undefined {
    const head = chain.head.header.number;
    if (to - from >= FEW_BLOCKS && head - from >= FEW_BLOCKS) return undefined;
    const headers: Header[] = [];
    for (let number = from; number <= to && number <= head; number++) {
      const header = chain.headerByNumber(number)?.header;
      if (header !== undefined && ANY_LOG.mayMatch(header.logsBloom)) headers.push(header);
    }
    return headers;
  }

  function isQuick(headers: readonly Header[], matcher: LogMatcher): boolean {
    let gasToRead = 0n;
    let gasToWrite = 0n;
    for (const { number, gasUsed, logsBloom } of headers) {
      if (!matcher.mayMatch(logsBloom)) continue;
      gasToWrite += gasUsed;
      if (!blocks.hasReceiptsInMemory(number)) gasToRead += gasUsed;
    }
    return gasToRead <= LITTLE_GAS && gasToWrite <= MUCH_GAS;
  }

  return async (criteria, range, requester) => {
    if (lacksBlocks(chain, range)) return { kind: "notStored" };
    const headers = headersWithLogs(range);
    if (headers === undefined) return undefined;
    // Prepared only when needed, because thousands of criteria take many milliseconds.
    if (headers.length === 0) return { kind: "found", pieces: [] };
    const matcher = await prepareLogMatcher(criteria);
    return isQuick(headers, matcher) ? findMatching(chain, matcher, range, requester) : undefined;
  };
}

const ANY_LOG = createLogMatcher({ addresses: [], topics: [] });

/** Whether a range has blocks before the start of the history: an empty list would say that they have no logs. */
function lacksBlocks(
  { historyStart, head }: Pick<ChainReader, "historyStart" | "head">,
  { from, to }: BlockRange,
): boolean {
  // The genesis block has no logs.
  const first = from > 1n ? from : 1n;
  return first < historyStart.blocks && first <= smaller(to, head.header.number);
}

/** For so few blocks a message to the worker thread takes longer; clients that follow the chain query one or two. */
const FEW_BLOCKS = 16n;
/** Total gas of the blocks whose receipts must be read from disk; it allows a few thousand logs at most. */
const LITTLE_GAS = 3_000_000n;
/** Total gas of all blocks with logs, those in memory included: a byte of a log costs 8, so it allows 25 MB at most. */
const MUCH_GAS = 200_000_000n;
