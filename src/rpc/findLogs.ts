import type { ChainReader } from "../chain/chain.ts";
import {
  type BlockRange,
  createLogMatcher,
  type LogCriteria,
  type LogQueryEnd,
  type LogQueryListener,
  queryBlock,
  queryLogs,
} from "../chain/logQuery.ts";
import type { Asker } from "../primitives/asker.ts";
import { assertNever } from "../primitives/assert.ts";
import type { StoredBlock } from "../types/block.ts";
import type { JsonPiece } from "./jsonPieces.ts";
import { createLogPieces } from "./logPieces.ts";
import { LoopTurn } from "./loopTurn.ts";

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
  return (criteria, range, asker) => gather(asker, (listener) => queryLogs(chain, criteria, range, listener));
}

/** The wanted logs of one block. */
export function findLogsIn(block: StoredBlock, criteria: LogCriteria, asker: Asker): Promise<FoundLogs> {
  return gather(asker, (listener) => queryBlock(block, createLogMatcher(criteria), listener));
}

/** Writes the logs as they are found, and lets others have their turn in between. */
async function gather(
  asker: Asker,
  query: (listener: LogQueryListener) => Promise<LogQueryEnd>,
): Promise<FoundLogs> {
  const written = createLogPieces();
  const turn = new LoopTurn();
  const end = await query({
    take(logs) {
      const isEnough = !written.add(logs);
      return isEnough || !turn.isOver ? !isEnough : turn.pass().then(() => true);
    },
    isAbandoned: () => asker.isAbandoned(),
  });
  switch (end) {
    case "told":
      return { kind: "found", pieces: written.finish() };
    case "tooManyLogs":
    case "abandoned":
      return { kind: end };
    default:
      return assertNever(end);
  }
}
