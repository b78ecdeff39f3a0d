import type { ChainReader } from "../chain/chain.ts";
import { EventLoopSlice } from "../primitives/eventLoopSlice.ts";
import type { JsonPiece } from "../primitives/jsonPieces.ts";
import type { Requester } from "../primitives/requester.ts";
import { createLogPieces } from "./logPieces.ts";
import { type BlockRange, type LogCriteria, queryLogs } from "./logQuery.ts";

/** Finds the wanted logs of the canonical blocks in a range, both ends included; it may reach beyond the head. */
export type FindLogs = (criteria: LogCriteria, range: BlockRange, requester: Requester) => Promise<FoundLogs>;

export type FoundLogs =
  /** JSON in the order of the logs, to be joined by commas. */
  | { readonly kind: "found"; readonly pieces: readonly JsonPiece[] }
  /** More than one answer may hold. */
  | { readonly kind: "tooManyLogs" }
  | { readonly kind: "abandoned" }
  /** Too many searches wait, and this asker has most of them. */
  | { readonly kind: "busy" };

/**
 * Searches on this thread, block by block, and writes the logs as they are found: for a few blocks, or where there is no
 * other thread. Others have their turn in between.
 */
export function createLogFinder(chain: ChainReader): FindLogs {
  return async (criteria, range, requester) => {
    const written = createLogPieces();
    const turn = new EventLoopSlice();
    const end = await queryLogs(chain, criteria, range, {
      take(logs) {
        if (!written.add(logs)) return false;
        return turn.isOver ? turn.yield().then(() => true) : true;
      },
      isAbandoned: () => requester.isAbandoned(),
    });
    return end === "told" ? { kind: "found", pieces: written.finish() } : { kind: end };
  };
}
