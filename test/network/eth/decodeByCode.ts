import { decodeMessage, type MessageErrorCode } from "../../../src/network/eth/messageCodec.ts";
import { type EthMessage, type EthVersion, kindsOf } from "../../../src/network/eth/messages.ts";
import { err, type Result } from "../../../src/primitives/result.ts";

/** Decodes a message of any kind, as it arrives: by its code. */
export function decodeByCode(
  code: number,
  payload: Uint8Array,
  version: EthVersion = 68,
): Result<EthMessage, MessageErrorCode | "unknownCode"> {
  const kind = kindsOf(version)[code];
  if (kind === undefined) return err({ code: "unknownCode", fault: "peer", message: `no message ${code}` });
  return decodeMessage(kind, payload);
}
