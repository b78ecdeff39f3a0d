import { type Decoding, type Encoded, encodeMessage, peekRoundId, readMessage } from "../../ibft/codec.ts";
import type { Authored } from "../../ibft/message.ts";
import type { RoundId } from "../../ibft/roundId.ts";
import type { Reading } from "../../ibft/signedReader.ts";
import type { DecodingErrorCode } from "../../ibft/strictRlp.ts";
import type { Address } from "../../primitives/address.ts";
import type { Result } from "../../primitives/result.ts";
import { keyOfMessage } from "./seenMessages.ts";

/**
 * How messages become bytes, and what is made of bytes; never a throw. Nodes spell as IBF/1 does; the simulator, whose
 * signatures are tokens, has a spelling of its own that costs nearly nothing.
 */
export interface MessageCodec {
  encode(message: Authored): Encoded;
  /** With places to pause; `isAuthorAllowed` hears of the author before anything that costs more. */
  read(
    code: number,
    payload: Uint8Array,
    decoding: Omit<Decoding, "isAuthorAllowed" | "recover"> & {
      readonly isAuthorAllowed: (author: Address) => boolean;
    },
  ): Reading<Result<Authored, DecodingErrorCode>>;
  /** Where a message belongs, before anything else of it is read. */
  peekRoundId(code: number, payload: Uint8Array): RoundId | undefined;
  /** What a message is known by: the same for the same code and bytes. */
  keyOf(code: number, payload: Uint8Array): string;
}

export const IBF_CODEC: MessageCodec = {
  encode: encodeMessage,
  read: readMessage,
  peekRoundId,
  keyOf: keyOfMessage,
};
