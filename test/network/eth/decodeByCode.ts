import { decodeMessage, type MessageErrorCode } from "../../../src/network/eth/messageCodec.ts";
import { type EthMessage, kindOfCode } from "../../../src/network/eth/messages.ts";
import { err, type Result } from "../../../src/primitives/result.ts";

/** Decodes a message of any kind, as it arrives: by its code. */
export function decodeByCode(
  code: number,
  payload: Uint8Array,
): Result<EthMessage, MessageErrorCode | "unknownCode"> {
  const kind = kindOfCode(code);
  if (kind === undefined) return err({ code: "unknownCode", fault: "peer", message: `no message ${code}` });
  return decodeMessage(kind, payload);
}
