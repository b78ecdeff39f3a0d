import type { FoundLogs } from "../../logs/findLogs.ts";
import { CHARACTERS_PER_ANSWER, LOGS_PER_ANSWER } from "../../logs/logJson.ts";
import { assertNever } from "../../primitives/assert.ts";
import { type JsonPiece, joinPieces, roughLengthOf } from "../../primitives/jsonPieces.ts";
import { ERRORS, RpcError } from "../errors/errors.ts";
import { JsonPieces, RawJson } from "../method.ts";

const TOO_MANY_LOGS = new RpcError(
  -32005,
  `Query returns more than ${LOGS_PER_ANSWER} logs or ${CHARACTERS_PER_ANSWER >> 20} MB. Ask for fewer blocks, or for one address.`,
);
const BUSY = new RpcError(-32005, "Too many queries for logs are under way. Try again later.");

/** The answer to a log query. */
export function logQueryAnswer(result: FoundLogs): RawJson | JsonPieces | RpcError {
  switch (result.kind) {
    case "found":
      return listOf(result.pieces);
    case "tooManyLogs":
      return TOO_MANY_LOGS;
    case "abandoned":
      return ERRORS.internalError;
    case "busy":
      return BUSY;
    case "notStored":
      return ERRORS.historyNotStored;
    default:
      return assertNever(result);
  }
}

function listOf(items: readonly JsonPiece[]): RawJson | JsonPieces {
  const pieces = ["[", ...items.flatMap((item, index) => (index === 0 ? [item] : [",", item])), "]"];
  if (roughLengthOf(items) >= LARGE_CHARACTERS) return new JsonPieces(pieces);
  return new RawJson(joinPieces(pieces), "ascii");
}

const LARGE_CHARACTERS = 1024 * 1024;
