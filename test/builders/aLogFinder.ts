import type { ChainReader } from "../../src/chain/chainReader.ts";
import { type FindLogs, findMatching } from "../../src/logs/findLogs.ts";
import { prepareLogMatcher } from "../../src/logs/logMatcher.ts";

/** Finds logs without a search thread, in any number of blocks. */
export function aLogFinder(chain: ChainReader): FindLogs {
  return async (criteria, range, requester) =>
    findMatching(chain, await prepareLogMatcher(criteria), range, requester);
}
