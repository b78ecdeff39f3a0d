import { errorOf, RpcError } from "../errors/errors.ts";
import { type Answer, JsonPieces, RawJson } from "../method.ts";
import type { RemoteAnswer } from "./protocol.ts";

/** An answer as it is sent to another thread. */
export function toRemote(answer: Answer): RemoteAnswer {
  if (answer instanceof RpcError) {
    const { code, message, data } = answer;
    return { kind: "error", code, message, data };
  }
  if (answer instanceof RawJson) return { kind: "raw", text: answer.text };
  if (answer instanceof JsonPieces) return { kind: "pieces", pieces: answer.pieces };
  return { kind: "value", value: answer };
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
