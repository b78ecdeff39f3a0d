import { setImmediate as nextTurn } from "node:timers/promises";
import type { LogQueryResult } from "../chain/logQuery.ts";
import { ERRORS, RpcError } from "./errors.ts";
import { logTexts } from "./logResult.ts";
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

/** The answer to a query of logs; long ones are written in slices, between which the event loop gets its turn. */
export async function logQueryAnswer(result: LogQueryResult): Promise<RawJson | RpcError> {
  switch (result.kind) {
    case "tooManyLogs":
      return TOO_MANY_LOGS;
    case "abandoned":
      return ERRORS.internalError;
    case "found":
      break;
  }
  const texts: string[] = [];
  for (let start = 0; start < result.logs.length; start += LOGS_PER_TURN) {
    if (start > 0) await nextTurn();
    texts.push(...logTexts(result.logs.slice(start, start + LOGS_PER_TURN)));
  }
  return new RawJson(`[${texts.join(",")}]`);
}

const LOGS_PER_TURN = 2_000;
