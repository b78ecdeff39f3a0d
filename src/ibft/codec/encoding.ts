import { assertNever } from "../../primitives/assert.ts";
import { type Hash, keccak256 } from "../../primitives/hash.ts";
import { concatBytes, EMPTY_BYTES } from "../../primitives/hex.ts";
import { bigintToFixedBytes } from "../../primitives/quantity.ts";
import { encodeRlp, encodeRlpList, type RlpItem } from "../../primitives/rlp.ts";
import { encodeSignature, type Signature } from "../../primitives/secp256k1.ts";
import { encodeBlock } from "../../types/block.ts";
import type { Candidate } from "../candidate.ts";
import type { Payload, PreparedCertificate, Signed, SignedMessage } from "../message.ts";

/** Message codes without the sub-protocol's offset on the wire; signatures cover the code, which separates the kinds. */
export const MESSAGE_CODES = { proposal: 0, prepare: 1, commit: 2, roundChange: 3 } as const;

export type MessageCode = (typeof MESSAGE_CODES)[keyof typeof MESSAGE_CODES];

/** A message with its code, 0 to 3, without the sub-protocol's offset on the wire. */
export interface Encoded {
  readonly code: MessageCode;
  readonly payload: Uint8Array;
}

/**
 * Encodes one of the four messages of IBF/1, in the form that a devp2p message has before snappy (ibft2.md#message-bodies).
 * A decoded message encodes to the same bytes again.
 *
 *   0 Proposal     [signed payload, block, round-change certificate | 0x80]
 *   1 Prepare      signed payload
 *   2 Commit       signed payload
 *   3 RoundChange  [signed payload, block | 0x80]
 */
export function encodeMessage(message: SignedMessage): Encoded {
  return { code: MESSAGE_CODES[message.kind], payload: encodeParts(message) };
}

function encodeParts(message: SignedMessage): Uint8Array {
  const signed = encodeSigned(message.signed);
  switch (message.kind) {
    case "proposal": {
      const { candidate, certificate } = message;
      const encodedCertificate =
        certificate === undefined ? ABSENT : encodeRlpList([encodeRlpList(certificate.map(encodeSigned))]);
      return encodeRlpList([signed, encodeCandidate(candidate), encodedCertificate]);
    }
    case "prepare":
    case "commit":
      return signed;
    case "roundChange":
      return encodeRlpList([
        signed,
        message.candidate === undefined ? ABSENT : encodeCandidate(message.candidate),
      ]);
    default:
      return assertNever(message);
  }
}

/** Encodes an absent certificate or block. */
const ABSENT = Uint8Array.of(0x80);

function encodeCandidate({ header, transactions }: Candidate): Uint8Array {
  return encodeBlock({ header, transactions, ommers: [] });
}

/** The hash that the author of a payload signs: keccak256(code byte || RLP(payload)) (ibft2.md#signatures). */
export function messageHash(payload: Payload): Hash {
  return keccak256(messagePreimage(payload));
}

/** The bytes whose hash is signed. */
export function messagePreimage(payload: Payload): Uint8Array {
  return concatBytes(Uint8Array.of(MESSAGE_CODES[payload.kind]), encodePayload(payload));
}

/** RLP of a payload without its signature. */
export function encodePayload(payload: Payload): Uint8Array {
  return encodeRlp(payloadItems(payload));
}

/**
 * RLP of signedItems. A decoded payload keeps its encoding instead of being encoded again: a proposal may include the
 * certificates of a hundred validators, ten thousand signed payloads.
 */
export function encodeSigned(signed: Signed<Payload>): Uint8Array {
  return encodings.get(signed) ?? encodeRlp(signedItems(signed));
}

/** Keeps `bytes`, from which `signed` was decoded, for as long as `signed` lives. */
export function keepEncoding(signed: Signed<Payload>, bytes: Uint8Array): void {
  encodings.set(signed, bytes);
}

const encodings = new WeakMap<Signed<Payload>, Uint8Array>();

/** Signs a payload with the signer's key. */
export function signPayload<P extends Payload>(
  signer: { readonly self: Signed<P>["author"]; sign(digest: Hash): Signature },
  payload: P,
): Signed<P> {
  return { payload, signature: signer.sign(messageHash(payload)), author: signer.self };
}

/** The height in 8 bytes and the round in 4, never trimmed; then the fields of the kind (ibft2.md#payloads). */
function payloadItems(payload: Payload): readonly RlpItem[] {
  const roundId = [bigintToFixedBytes(payload.height, 8), bigintToFixedBytes(BigInt(payload.round), 4)];
  switch (payload.kind) {
    case "proposal":
    case "prepare":
      return [...roundId, payload.digest];
    case "commit":
      return [...roundId, payload.digest, encodeSignature(payload.seal)];
    case "roundChange":
      return [...roundId, payload.prepared === undefined ? EMPTY_BYTES : certificateItems(payload.prepared)];
  }
}

function certificateItems({ proposal, prepares }: PreparedCertificate): readonly RlpItem[] {
  return [signedItems(proposal), prepares.map(signedItems)];
}

/** [payload, signature] */
function signedItems({ payload, signature }: Signed<Payload>): readonly RlpItem[] {
  return [payloadItems(payload), encodeSignature(signature)];
}
