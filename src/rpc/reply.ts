import { assert } from "../primitives/assert.ts";
import { type JsonPiece, joinPieces, roughLengthOf } from "../primitives/jsonPieces.ts";
import { RpcError } from "./errors/errors.ts";
import { type Answer, JsonPieces, JsonStream, RawJson } from "./method.ts";

/** A JSON-RPC response, as text. */
export interface Reply {
  readonly text: string;
  /** The text in pieces, when it is very large: only callers that need one string join them. Those that are not a list are read once. */
  readonly pieces?: Iterable<JsonPiece>;
  /** About the bytes that the pieces keep in memory until they are read. */
  readonly heldBytes?: number;
  /** The error inside the text, from which HTTP derives its status. */
  readonly error: RpcError | undefined;
  /** Whether the text is known to be of ASCII characters alone. */
  readonly isAscii?: boolean;
}

/** Matches the characters that may stand in a JSON text of one line. */
const ASCII = /^[ -~]*$/;

/** Answers of at least this many characters are not joined with the text around them. */
const LARGE_LENGTH = 1024 * 1024;

/** The response with a method's answer. Throws for an answer that JSON cannot express. */
export function answerReply(idText: string, answer: Answer): Reply {
  if (answer instanceof RpcError) return errorReply(idText, answer);
  if (answer instanceof JsonPieces) return inPieces(idText, answer.pieces);
  if (answer instanceof JsonStream) return streamed(idText, answer);
  if (answer instanceof RawJson && answer.text.length >= LARGE_LENGTH) return inPieces(idText, [answer.text]);
  const isAscii = answer instanceof RawJson && answer.isAscii && ASCII.test(idText);
  return {
    text: `{"jsonrpc":"2.0","id":${idText},"result":${resultJson(answer)}}`,
    error: undefined,
    isAscii,
  };
}

/** The response with an error. */
export function errorReply(idText: string, error: RpcError): Reply {
  const { code, message, data } = error;
  return {
    text: `{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify({ code, message, data })}}`,
    error,
  };
}

function inPieces(idText: string, result: readonly JsonPiece[]): Reply {
  const pieces = [`{"jsonrpc":"2.0","id":${idText},"result":`, ...result, "}"];
  return {
    pieces,
    heldBytes: roughLengthOf(pieces),
    get text() {
      return joinPieces(pieces);
    },
    error: undefined,
  };
}

function streamed(idText: string, { heldBytes, pieces }: JsonStream): Reply {
  const whole = within(`{"jsonrpc":"2.0","id":${idText},"result":`, pieces, "}");
  return {
    pieces: whole,
    heldBytes,
    get text() {
      return joinPieces([...whole]);
    },
    error: undefined,
  };
}

function* within(before: string, pieces: Iterable<JsonPiece>, after: string): Generator<JsonPiece, void> {
  yield before;
  yield* pieces;
  yield after;
}

function resultJson(answer: Answer): string {
  if (answer instanceof RawJson) return answer.text;
  const text = JSON.stringify(answer);
  assert(text !== undefined, "a method must answer with something");
  return text;
}
