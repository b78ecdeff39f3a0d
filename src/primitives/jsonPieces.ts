import { viewAsBuffer } from "./hex.ts";

/** A part of a JSON text: as text, or as its bytes in UTF-8, which nobody may change. */
export type JsonPiece = string | Uint8Array;

/** The text that the pieces make up. It costs a copy of all of them: for what is small, or has no other way. */
export function joinPieces(pieces: readonly JsonPiece[]): string {
  return pieces
    .map((piece) => (typeof piece === "string" ? piece : viewAsBuffer(piece).toString("utf8")))
    .join("");
}

/** What they take, quickly told: characters of texts, bytes of the rest. */
export function roughLengthOf(pieces: readonly JsonPiece[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** Bytes in UTF-8. */
export function lengthOfPieces(pieces: readonly JsonPiece[]): number {
  return pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
}

/** The same text in pieces of which none takes long to send; bytes are not copied. */
export function* slicesOf(pieces: Iterable<JsonPiece>, length = SLICE_LENGTH): Generator<JsonPiece, void> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const end = typeof piece === "string" ? endOfSlice(piece, at + length) : at + length;
      yield typeof piece === "string" ? piece.slice(at, end) : piece.subarray(at, end);
      at = end;
    }
  }
}

const SLICE_LENGTH = 256 * 1024;

/** Not between the two halves of a character. */
function endOfSlice(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end;
}
