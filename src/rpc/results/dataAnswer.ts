import { toDigits, toHex } from "../../primitives/hex.ts";
import { JsonStream } from "../method.ts";

/** Bytes as hex: at once, or made as they are read when there are many, because JSON.stringify would take longer than all else. */
export function dataAnswer(bytes: Uint8Array): string | JsonStream {
  return bytes.length <= PIECE_BYTES ? toHex(bytes) : new JsonStream(bytes.length, dataPieces(bytes));
}

/** JSON of bytes as hex, in pieces. */
export function* dataPieces(bytes: Uint8Array): Generator<string, void> {
  yield `"0x`;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield toDigits(bytes.subarray(at, at + PIECE_BYTES));
  yield `"`;
}

const PIECE_BYTES = 96 * 1024;
