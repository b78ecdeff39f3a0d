import { setImmediate as nextTurn } from "node:timers/promises";
import type { LocatedLog } from "../chain/chain.ts";
import type { LogQueryResult } from "../chain/logQuery.ts";
import { assertNever } from "../primitives/assert.ts";
import { ERRORS, RpcError } from "./errors.ts";
import { logItemsJson } from "./logResult.ts";
import { RawJson } from "./method.ts";

/**
 * Logs that one answer may hold, some 60 MB of JSON. The incumbent knows no such limit, but an answer that is larger
 * than the memory left for it would take the node down.
 */
export const LOGS_PER_ANSWER = 100_000;

export const TOO_MANY_LOGS = new RpcError(
  -32005,
  `Query returns more than ${LOGS_PER_ANSWER} logs. Ask for fewer blocks, or for one address.`,
);

/** The answer to a query of logs. */
export async function logQueryAnswer(result: LogQueryResult): Promise<RawJson | RpcError> {
  switch (result.kind) {
    case "found":
      return new RawJson(`[${(await logPieces(result.logs)).join(",")}]`);
    case "tooManyLogs":
      return TOO_MANY_LOGS;
    case "abandoned":
      return ERRORS.internalError;
    default:
      return assertNever(result);
  }
}

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
