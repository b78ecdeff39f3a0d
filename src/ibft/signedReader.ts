import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import { asHash, type Hash, keccak256 } from "../primitives/hash.ts";
import { concatBytes } from "../primitives/hex.ts";
import { bytesToBigint } from "../primitives/quantity.ts";
import { rlpMembers } from "../primitives/rlp.ts";
import { decodeSignature, type Signature } from "../primitives/secp256k1.ts";
import type { Digest } from "../types/blockHash.ts";
import type {
  CommitPayload,
  Payload,
  PreparedCertificate,
  PreparePayload,
  ProposalPayload,
  RoundChangeCertificate,
  RoundChangePayload,
  Signed,
} from "./message.ts";
import { MESSAGE_CODES } from "./payloadCodec.ts";
import type { RoundId } from "./roundId.ts";
import { isAbsent, partsOf, Refusal, stringOf } from "./strictRlp.ts";

export type Recover = (digest: Uint8Array, signature: Signature) => Address | undefined;

/**
 * Reads the signed payloads of one message, from their encodings, and recovers who signed them (ibft2.md §7.1, §7.3).
 * Certificates repeat one another, so a signature is recovered once; how much a message may hold is bounded. Throws
 * RangeError for what is malformed.
 */
export interface SignedReader {
  /** The payloads of a message itself; the author is admitted before the payload is read. */
  proposal(part: Uint8Array): Signed<ProposalPayload>;
  prepare(part: Uint8Array): Signed<PreparePayload>;
  commit(part: Uint8Array): Signed<CommitPayload>;
  roundChange(part: Uint8Array): Signed<RoundChangePayload>;
  roundChangeCertificate(part: Uint8Array): RoundChangeCertificate;
}

/** Different signatures in one message, each some 45 µs: 50 validators, all prepared in rounds of their own, need 1,800. */
export const SIGNATURE_LIMIT = 4096;
/** Signed payloads in one message, repetitions included, each some 10 µs. */
export const PAYLOAD_COUNT_LIMIT = 20_000;

/** `admit` sees the author of the message itself, and refuses it by throwing. */
export function createSignedReader(recover: Recover, admit: (author: Address) => void): SignedReader {
  const authors = new Map<string, Address>();
  let count = 0;

  function authorOf(kind: Payload["kind"], payload: Uint8Array, signature: Uint8Array): Address {
    const hash = keccak256(concatBytes(Uint8Array.of(MESSAGE_CODES[kind]), payload));
    const key = toKey(hash) + toKey(signature);
    const known = authors.get(key);
    if (known !== undefined) return known;
    if (authors.size >= SIGNATURE_LIMIT)
      throw new Refusal("tooManySignatures", `more than ${SIGNATURE_LIMIT} different signatures`);
    const author = recover(hash, signatureOf(signature));
    if (author === undefined) throw new Refusal("unknownSigner", `the signature of a ${kind} fits no key`);
    authors.set(key, author);
    return author;
  }

  function readSigned<P extends Payload>(
    part: Uint8Array,
    kind: P["kind"],
    readPayload: (fields: Uint8Array) => P,
    look: (author: Address) => void = () => undefined,
  ): Signed<P> {
    count += 1;
    if (count > PAYLOAD_COUNT_LIMIT)
      throw new Refusal("tooManySignatures", `more than ${PAYLOAD_COUNT_LIMIT} signed payloads`);
    const [fields, signaturePart] = partsOf(part, 2);
    const signatureBytes = stringOf(signaturePart, SIGNATURE_BYTES);
    const author = authorOf(kind, fields, signatureBytes);
    look(author);
    return { payload: readPayload(fields), signature: signatureOf(signatureBytes), author };
  }

  function readRoundChangePayload(fields: Uint8Array): RoundChangePayload {
    const [height, round, prepared] = partsOf(fields, 3);
    const place = placeFrom(height, round);
    if (isAbsent(prepared)) return { kind: "roundChange", ...place };
    return { kind: "roundChange", ...place, prepared: readPreparedCertificate(prepared) };
  }

  function readPreparedCertificate(part: Uint8Array): PreparedCertificate {
    const [proposal, prepares] = partsOf(part, 2);
    return {
      proposal: readSigned(proposal, "proposal", readProposalPayload),
      prepares: membersOf(prepares, (prepare) => readSigned(prepare, "prepare", readPreparePayload)),
    };
  }

  return {
    proposal: (part) => readSigned(part, "proposal", readProposalPayload, admit),
    prepare: (part) => readSigned(part, "prepare", readPreparePayload, admit),
    commit: (part) => readSigned(part, "commit", readCommitPayload, admit),
    roundChange: (part) => readSigned(part, "roundChange", readRoundChangePayload, admit),
    roundChangeCertificate(part) {
      const [list] = partsOf(part, 1);
      return membersOf(list, (member) => readSigned(member, "roundChange", readRoundChangePayload));
    },
  };
}

/** The place that a payload of any kind begins with; the rest of it is not looked at. */
export function readPlace(fields: Uint8Array): RoundId {
  const parts: Uint8Array[] = [];
  for (const { start, until } of rlpMembers(fields)) {
    parts.push(fields.subarray(start, until));
    if (parts.length === 2) break;
  }
  const [height, round] = parts;
  if (height === undefined || round === undefined) throw new RangeError("a payload names height and round");
  return placeFrom(height, round);
}

const SIGNATURE_BYTES = 65;

function readProposalPayload(fields: Uint8Array): ProposalPayload {
  return { kind: "proposal", ...readSubject(fields) };
}

function readPreparePayload(fields: Uint8Array): PreparePayload {
  return { kind: "prepare", ...readSubject(fields) };
}

function readCommitPayload(fields: Uint8Array): CommitPayload {
  const [height, round, digest, seal] = partsOf(fields, 4);
  return {
    kind: "commit",
    ...placeFrom(height, round),
    digest: digestFrom(digest),
    seal: signatureOf(stringOf(seal, SIGNATURE_BYTES)),
  };
}

function readSubject(fields: Uint8Array): RoundId & { readonly digest: Digest } {
  const [height, round, digest] = partsOf(fields, 3);
  return { ...placeFrom(height, round), digest: digestFrom(digest) };
}

function placeFrom(height: Uint8Array, round: Uint8Array): RoundId {
  return {
    height: bytesToBigint(stringOf(height, 8)),
    round: Number(bytesToBigint(stringOf(round, 4))),
  };
}

function digestFrom(part: Uint8Array): Digest {
  return asHash(stringOf(part, 32)) as Hash as Digest;
}

function signatureOf(bytes: Uint8Array): Signature {
  const signature = decodeSignature(bytes);
  if (signature === undefined) throw new RangeError("not a signature");
  return signature;
}

function membersOf<T>(list: Uint8Array, read: (part: Uint8Array) => T): readonly T[] {
  const members: T[] = [];
  for (const { start, until } of rlpMembers(list)) members.push(read(list.subarray(start, until)));
  return members;
}
