import { joinPieces } from "../../../primitives/jsonPieces.ts";
import { type JsonWriter, jsonPieces } from "../../../primitives/jsonWriter.ts";
import { JsonStream, RawJson } from "../../method.ts";

/**
 * A listing of at most so many bytes: at once, or made as it is read where it is large, which costs no memory for its text.
 * `pieceBytes` is the least length of the pieces.
 */
export function listingAnswer(
  bytes: number,
  write: (writer: JsonWriter) => Generator<void, void>,
  pieceBytes?: number,
): RawJson | JsonStream {
  const pieces = jsonPieces(write, pieceBytes);
  return bytes < LARGE_BYTES ? new RawJson(joinPieces([...pieces])) : new JsonStream(bytes, pieces);
}

const LARGE_BYTES = 64 * 1024;
