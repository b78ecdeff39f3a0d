import { EventLoopPacer } from "../../primitives/pacer.ts";
import { JsonPieces, RawJson } from "../method.ts";

/** Joins many parts of JSON, in pieces when the text is large, and yields to the event loop in between. */
export async function joinJson(parts: Iterable<string>): Promise<RawJson | JsonPieces> {
  const pieces: string[] = [];
  let open = "";
  const pacer = new EventLoopPacer();
  for (const part of parts) {
    open += part;
    if (open.length >= PIECE_LENGTH) {
      pieces.push(open);
      open = "";
    }
    if (pacer.isDue()) await pacer.yield();
  }
  return pieces.length === 0 ? new RawJson(open) : new JsonPieces([...pieces, open]);
}

const PIECE_LENGTH = 256 * 1024;
