import { EventLoopSlice } from "../../primitives/eventLoopSlice.ts";
import { JsonPieces, RawJson } from "../method.ts";

/** The JSON that many parts make up, in pieces where it is large. Others have their turn in between. */
export async function chunkedText(parts: Iterable<string>): Promise<RawJson | JsonPieces> {
  const pieces: string[] = [];
  let open = "";
  const turn = new EventLoopSlice();
  for (const part of parts) {
    open += part;
    if (open.length >= PIECE_LENGTH) {
      pieces.push(open);
      open = "";
    }
    if (turn.isOver) await turn.yield();
  }
  return pieces.length === 0 ? new RawJson(open) : new JsonPieces([...pieces, open]);
}

const PIECE_LENGTH = 256 * 1024;
