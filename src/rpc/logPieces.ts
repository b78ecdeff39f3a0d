import { setImmediate as nextTurn } from "node:timers/promises";
import type { LocatedLog } from "../chain/chain.ts";
import { logItemsJson } from "./logResult.ts";

/**
 * Logs that one answer may hold, some 60 MB of JSON. The incumbent knows no such limit, but an answer that is larger
 * than the memory left for it would take the node down.
 */
export const LOGS_PER_ANSWER = 100_000;

/** JSON texts of some logs each, to be joined by commas. Between two of them the event loop gets its turn. */
export async function logPieces(logs: readonly LocatedLog[]): Promise<string[]> {
  const pieces: string[] = [];
  for (let start = 0; start < logs.length; start += LOGS_PER_TURN) {
    if (start > 0) await nextTurn();
    pieces.push(logItemsJson(logs.slice(start, start + LOGS_PER_TURN)));
  }
  return pieces;
}

const LOGS_PER_TURN = 2_000;
