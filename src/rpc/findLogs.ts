import type { ChainReader } from "../chain/chain.ts";
import { type BlockRange, type LogCriteria, queryLogs } from "../chain/logQuery.ts";
import type { Asker } from "../primitives/asker.ts";
import type { JsonPiece } from "./jsonPieces.ts";
import { LOGS_PER_ANSWER, logPieces } from "./logPieces.ts";

/** Finds the wanted logs of the canonical blocks in a range, both ends included; it may reach beyond the head. */
export type FindLogs = (criteria: LogCriteria, range: BlockRange, asker: Asker) => Promise<FoundLogs>;

export type FoundLogs =
  /** JSON in the order of the logs, to be joined by commas. */
  | { readonly kind: "found"; readonly pieces: readonly JsonPiece[] }
  /** More than one answer may hold. */
  | { readonly kind: "tooManyLogs" }
  | { readonly kind: "abandoned" }
  /** Too many searches wait, and this asker has most of them. */
  | { readonly kind: "busy" };

/** Searches on this thread, block by block: for a few blocks, or where there is no other thread. */
export function createLogFinder(chain: ChainReader): FindLogs {
  return async (criteria, range, asker) => {
    const limits = { maxLogs: LOGS_PER_ANSWER, isAbandoned: () => asker.isAbandoned() };
    const result = await queryLogs(chain, criteria, range, limits);
    if (result.kind !== "found") return result;
    const pieces = await logPieces(result.logs);
    return pieces === undefined ? { kind: "tooManyLogs" } : { kind: "found", pieces };
  };
}
