import type { LogQueryResult } from "../chain/logQuery.ts";
import { assertNever } from "../primitives/assert.ts";
import { ERRORS, RpcError } from "./errors.ts";
import { LOGS_PER_ANSWER, logPieces } from "./logPieces.ts";
import { RawJson } from "./method.ts";

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
