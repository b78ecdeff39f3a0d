import { type Decoding, peekRoundId, readMessage } from "../../ibft/codec/decoding.ts";
import { type Encoded, encodeMessage } from "../../ibft/codec/encoding.ts";
import type { DecodingErrorCode } from "../../ibft/codec/payloadReader.ts";
import type { Reading } from "../../ibft/codec/signedReader.ts";
import type { RoundId, SignedMessage } from "../../ibft/message.ts";
import type { Address } from "../../primitives/address.ts";
import type { Result } from "../../primitives/result.ts";
import { keyOfMessage } from "./seenMessages.ts";

/**
 * Encodes and decodes messages; never throws. Nodes use IBF/1; the simulator, whose signatures are tokens, has a cheap
 * codec of its own.
 */
export interface MessageCodec {
  encode(message: SignedMessage): Encoded;
  /** Decodes with points to pause at; `isAuthorAllowed` is called before any more expensive decoding. */
  read(
    code: number,
    payload: Uint8Array,
    decoding: Omit<Decoding, "isAuthorAllowed" | "recover"> & {
      readonly isAuthorAllowed: (author: Address) => boolean;
    },
  ): Reading<Result<SignedMessage, DecodingErrorCode>>;
  /** Height and round of a message, without decoding the rest. */
  peekRoundId(code: number, payload: Uint8Array): RoundId | undefined;
  /** Identifies a message: equal for equal code and bytes. */
  keyOf(code: number, payload: Uint8Array): string;
}

export const IBF_CODEC: MessageCodec = {
  encode: encodeMessage,
  read: readMessage,
  peekRoundId,
  keyOf: keyOfMessage,
};
