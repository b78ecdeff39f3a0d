import { viewAsBuffer } from "./hex.ts";

/** A part of a JSON text: as a string, or as UTF-8 bytes, which must not be changed. */
export type JsonPiece = string | Uint8Array;

/**
 * Joins the pieces into one string: only for small texts, or where a string is required. It is concatenated, so that the
 * engine copies the characters once, with those that a caller puts around them.
 */
export function joinPieces(pieces: readonly JsonPiece[]): string {
  return pieces.reduce<string>(
    (text, piece) => text + (typeof piece === "string" ? piece : viewAsBuffer(piece).toString("utf8")),
    "",
  );
}

/** Approximate length, computed quickly: characters of strings, bytes of the others. */
export function roughLengthOf(pieces: readonly JsonPiece[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** Length in bytes of UTF-8. */
export function lengthOfPieces(pieces: readonly JsonPiece[]): number {
  return pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
}

/** The same text in pieces of at most `length`, each quick to send; bytes are not copied. */
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

/** Moves the end of a slice so that it does not split a surrogate pair. */
function endOfSlice(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end;
}
