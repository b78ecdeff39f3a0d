import type { ChainReader, LocatedLog } from "../chain/chain.ts";
import { EventLoopSlice } from "../primitives/eventLoopSlice.ts";
import type { JsonPiece } from "../primitives/jsonPieces.ts";
import type { Requester } from "../primitives/requester.ts";
import { LogPieces } from "./logJson.ts";
import { type LogCriteria, type LogMatcher, prepareLogMatcher } from "./logMatcher.ts";
import { type BlockRange, queryLogs } from "./logQuery.ts";

/** Finds the matching logs of the canonical blocks in a range, both ends included; `to` may lie beyond the head. */
export type FindLogs = (criteria: LogCriteria, range: BlockRange, requester: Requester) => Promise<FoundLogs>;

export type FoundLogs =
  /** JSON of the logs in order, to be joined by commas. */
  | { readonly kind: "found"; readonly pieces: readonly JsonPiece[] }
  /** More logs than an answer may hold. */
  | { readonly kind: "tooManyLogs" }
  /** The requester is gone. */
  | { readonly kind: "abandoned" }
  /** Too many searches wait, and this requester has the most of them. */
  | { readonly kind: "busy" }
  /** The range has blocks without stored receipts, before the start of the history. */
  | { readonly kind: "notStored" };

/**
 * Searches on this thread, block by block, and writes the logs as they are found; yields in between. For a few blocks, or
 * where there is no worker.
 */
export function createLogFinder(chain: ChainReader): FindLogs {
  return async (criteria, range, requester) =>
    findMatching(chain, await prepareLogMatcher(criteria), range, requester);
}

/** As createLogFinder, with criteria that are prepared. */
export async function findMatching(
  chain: ChainReader,
  matcher: LogMatcher,
  range: BlockRange,
  requester: Requester,
): Promise<FoundLogs> {
  const pieces = new LogPieces();
  const slice = new EventLoopSlice();
  const end = await queryLogs(chain, matcher, range, {
    async take(logs) {
      for (const some of inParts(logs)) {
        if (!pieces.add(some)) return false;
        if (slice.isOver) await slice.yield();
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
