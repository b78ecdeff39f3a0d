import type { JsonPiece } from "../../primitives/jsonPieces.ts";
import { EventLoopPacer } from "../../primitives/pacer.ts";
import type { Requester } from "../../primitives/requester.ts";
import { errorOf, RpcError } from "../errors/errors.ts";
import { type Answer, JsonPieces, JsonStream, RawJson } from "../method.ts";
import type { RemoteAnswer } from "./protocol.ts";

/**
 * An answer as it is sent to another thread, as a whole, which is made in slices of the event loop where it is large; no further than
 * the caller waits for it.
 */
export function toRemote(
  answer: Answer,
  caller: Pick<Requester, "isAbandoned">,
): RemoteAnswer | Promise<RemoteAnswer> {
  if (answer instanceof JsonStream) return inSlices(answer, caller);
  if (answer instanceof RpcError) {
    const { code, message, data } = answer;
    return { kind: "error", code, message, data };
  }
  if (answer instanceof RawJson) return { kind: "raw", text: answer.text };
  if (answer instanceof JsonPieces) return { kind: "pieces", pieces: answer.pieces, areOwn: false };
  return { kind: "value", value: answer };
}

async function inSlices(
  { pieces, ownsMemory }: JsonStream,
  caller: Pick<Requester, "isAbandoned">,
): Promise<RemoteAnswer> {
  const made: JsonPiece[] = [];
  const pacer = new EventLoopPacer();
  for (const piece of pieces) {
    if (caller.isAbandoned()) break;
    made.push(piece);
    if (pacer.isDue()) await pacer.yield();
  }
  return { kind: "pieces", pieces: made, areOwn: ownsMemory };
}

export function fromRemote(answer: RemoteAnswer): Answer {
  switch (answer.kind) {
    case "value":
      return answer.value;
    case "raw":
      return new RawJson(answer.text);
    case "pieces":
      return new JsonPieces(answer.pieces);
    case "error":
      return errorOf(answer.code, answer.message, answer.data);
  }
}
