import { type Decoding, decodeMessage, type Encoded, encodeMessage, peekPlace } from "../ibft/codec.ts";
import type { Authored } from "../ibft/message.ts";
import type { RoundId } from "../ibft/roundId.ts";
import type { DecodingDefect } from "../ibft/strictRlp.ts";
import type { Address } from "../primitives/address.ts";
import type { Outcome } from "../primitives/outcome.ts";
import { keyOfMessage } from "./seenMessages.ts";

/**
 * How messages become bytes, and what is made of bytes; never a throw. Nodes spell as IBF/1 does; the simulator, whose
 * signatures are tokens, has a spelling of its own that costs nearly nothing.
 */
export interface Spelling {
  encode(message: Authored): Encoded;
  decode(
    code: number,
    payload: Uint8Array,
    decoding: Pick<Decoding, "findTransaction"> & { readonly maySpeak: (author: Address) => boolean },
  ): Outcome<Authored, DecodingDefect>;
  /** Where a message belongs, before anything else of it is read. */
  peekPlace(code: number, payload: Uint8Array): RoundId | undefined;
  /** What a message is known by: the same for the same code and bytes. */
  keyOf(code: number, payload: Uint8Array): string;
}

export const IBF_SPELLING: Spelling = {
  encode: encodeMessage,
  decode: decodeMessage,
  peekPlace,
  keyOf: keyOfMessage,
};
