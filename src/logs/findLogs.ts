import type { ChainReader, LocatedLog } from "../chain/chainReader.ts";
import type { JsonPiece } from "../primitives/jsonPieces.ts";
import { EventLoopPacer } from "../primitives/pacer.ts";
import { smaller } from "../primitives/quantity.ts";
import type { Requester } from "../primitives/requester.ts";
import type { Header } from "../types/header.ts";
import { LogPieces } from "./logJson.ts";
import { createLogMatcher, type LogCriteria, type LogMatcher, prepareLogMatcher } from "./logMatcher.ts";
import { type BlockRange, queryLogs } from "./logQuery.ts";

/** Finds the matching logs of the canonical blocks in a range, both ends included; `to` may lie beyond the head. */
export type FindLogs = (criteria: LogCriteria, range: BlockRange, requester: Requester) => Promise<FoundLogs>;

export type FoundLogs =
  /** JSON of the logs in order, to be joined by commas. */
  | { readonly kind: "found"; readonly pieces: readonly JsonPiece[] }
  /** There are more logs than an answer may have. */
  | { readonly kind: "tooManyLogs" }
  /** The requester is gone. */
  | { readonly kind: "abandoned" }
  /** Too many searches wait, and this requester has the most of them. */
  | { readonly kind: "busy" }
  /** The range has blocks without stored receipts, before the start of the history. */
  | { readonly kind: "notStored" };

/** Finds logs on this thread if that is faster than a message to another one; `searchFar` finds all others. */
export function createLogFinder(
  chain: ChainReader,
  blocks: { hasReceiptsInMemory(number: bigint): boolean },
  searchFar: FindLogs,
): FindLogs {
  /** Headers of the blocks in the range that have logs; undefined if the range has more than FEW_BLOCKS. */
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
    if (headers === undefined) return searchFar(criteria, range, requester);
    // The matcher is prepared only when needed, because thousands of criteria take many milliseconds.
    if (headers.length === 0) return { kind: "found", pieces: [] };
    const matcher = await prepareLogMatcher(criteria);
    return isQuick(headers, matcher)
      ? findMatching(chain, matcher, range, requester)
      : searchFar(criteria, range, requester);
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

/**
 * Greatest number of blocks for which a message to the worker thread takes longer than the search; clients that follow the
 * chain query one or two.
 */
const FEW_BLOCKS = 16n;
/** Most total gas of the blocks whose receipts must be read from disk: it permits a few thousand logs at most. */
const LITTLE_GAS = 3_000_000n;
/** Most total gas of all blocks with logs, those in memory included: a byte of a log costs 8, so it permits 25 MB at most. */
const MUCH_GAS = 200_000_000n;

/** Searches on this thread, block by block, and writes the logs as they are found; yields in between. */
export async function findMatching(
  chain: ChainReader,
  matcher: LogMatcher,
  range: BlockRange,
  requester: Requester,
): Promise<FoundLogs> {
  const pieces = new LogPieces();
  const pacer = new EventLoopPacer();
  const end = await queryLogs(chain, matcher, range, {
    async take(logs) {
      for (const some of inParts(logs)) {
        if (!pieces.add(some)) return false;
        if (pacer.isDue()) await pacer.yield();
      }
      return true;
    },
    isAbandoned: () => requester.isAbandoned(),
  });
  return end === "completed" ? { kind: "found", pieces: pieces.finish() } : { kind: end };
}

/** The logs in parts that are quick to write: few, and with little data. */
function* inParts(logs: readonly LocatedLog[]): Generator<readonly LocatedLog[], void> {
  let from = 0;
  let bytes = 0;
  for (const [index, { log }] of logs.entries()) {
    bytes += BYTES_PER_LOG + log.data.length;
    if (bytes < PART_BYTES) continue;
    yield logs.slice(from, index + 1);
    from = index + 1;
    bytes = 0;
  }
  if (from < logs.length) yield logs.slice(from);
}

const BYTES_PER_LOG = 256;
const PART_BYTES = 256 * 1024;
