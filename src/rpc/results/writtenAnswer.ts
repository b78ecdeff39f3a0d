import { type JsonWriter, jsonPieces, jsonText, writeAtOnce } from "../../primitives/jsonWriter.ts";
import { JsonStream, RawJson } from "../method.ts";

/** What `write` writes of some `bytes`: at once, or as it is read where it is large. `write` yields where it may be interrupted. */
export function writtenAnswer(
  bytes: number,
  write: (writer: JsonWriter) => Generator<void, void>,
): RawJson | JsonStream {
  if (bytes >= LARGE_BYTES) return new JsonStream(bytes, jsonPieces(write));
  return new RawJson(
    jsonText((writer) => writeAtOnce(write(writer))),
    "ascii",
  );
}

/** Writing so much takes a millisecond or more. */
const LARGE_BYTES = 256 * 1024;
