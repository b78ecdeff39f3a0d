import { asHash, type Hash } from "../../primitives/hash.ts";
import { bytesToBigint } from "../../primitives/quantity.ts";
import { readRlpString, rlpMembers } from "../../primitives/rlp.ts";
import { decodeSignature, type Signature } from "../../primitives/secp256k1.ts";
import type { Digest } from "../../types/blockHash.ts";
import type { CommitPayload, Payload, PreparePayload, ProposalPayload, RoundId, Signed } from "../message.ts";
import { CERTIFICATE_ERRORS } from "../messageRules.ts";

/** A decoded signed payload whose signer is not recovered yet. */
export interface Unverified<P> {
  readonly kind: Payload["kind"];
  /** The payload's encoding: the signed bytes, without the code byte of the kind. */
  readonly fields: Uint8Array;
  readonly payload: P;
  readonly signature: Signature;
  readonly signatureBytes: Uint8Array;
  /** Payload and signature, as received. */
  readonly bytes: Uint8Array;
  /** The result, once the author is recovered; kept because certificates repeat one another. */
  verified?: Signed<Extract<P, Payload>>;
}

export interface UnverifiedPrepared {
  readonly proposal: Unverified<ProposalPayload>;
  readonly prepares: readonly Unverified<PreparePayload>[];
}

export interface UnverifiedRoundChange extends RoundId {
  readonly prepared?: UnverifiedPrepared;
}

/** Bounds on the lists of one message. */
interface ListLimits {
  /** Most Prepares in a prepared certificate, and round changes in a round-change certificate: the number of validators. */
  readonly members: number;
  /** Most signed payloads in all, repetitions included. */
  readonly payloads: number;
}

/** Decodes the one signed payload of a Proposal; throws RangeError for malformed bytes, as all functions here do. */
export function readProposal(part: Uint8Array): Unverified<ProposalPayload> {
  return readSigned(part, "proposal", readProposalPayload);
}

export function readPrepare(part: Uint8Array): Unverified<PreparePayload> {
  return readSigned(part, "prepare", readPreparePayload);
}

export function readCommit(part: Uint8Array): Unverified<CommitPayload> {
  return readSigned(part, "commit", readCommitPayload);
}

/**
 * Decodes the certificates of one message (ibft2.md#payloads): first the counts, then the contents; signers are not
 * recovered here. A payload repeated byte for byte is decoded once. Yields before each payload, so that a long
 * certificate can be decoded with pauses; throws RangeError for malformed bytes.
 */
export class CertificateReader {
  private readonly limits: ListLimits;
  /** The Proposals and Prepares decoded so far, by their bytes. */
  private readonly proposals = new Map<string, Unverified<ProposalPayload>>();
  private readonly prepares = new Map<string, Unverified<PreparePayload>>();
  private count = 0;

  constructor(limits: ListLimits) {
    this.limits = limits;
  }

  *roundChange(part: Uint8Array): Generator<undefined, Unverified<UnverifiedRoundChange>> {
    this.countOne();
    const { fields, ...signed } = split(part);
    const [height, round, prepared] = partsOf(fields, 3);
    const id = roundIdFrom(height, round);
    const certificate = isAbsent(prepared) ? undefined : yield* this.prepared(prepared);
    const payload = { ...id, ...(certificate !== undefined && { prepared: certificate }) };
    return { kind: "roundChange", fields, payload, ...signed };
  }

  /** A round-change certificate. */
  *roundChanges(part: Uint8Array): Generator<undefined, readonly Unverified<UnverifiedRoundChange>[]> {
    const [list] = partsOf(part, 1);
    const roundChanges: Unverified<UnverifiedRoundChange>[] = [];
    for (const member of this.membersOf(list)) {
      yield;
      roundChanges.push(yield* this.roundChange(member));
    }
    return roundChanges;
  }

  private *prepared(part: Uint8Array): Generator<undefined, UnverifiedPrepared> {
    const [proposalPart, preparesPart] = partsOf(part, 2);
    const members = this.membersOf(preparesPart);
    const proposal = this.readOnce(proposalPart, this.proposals, readProposal);
    const prepares: Unverified<PreparePayload>[] = [];
    for (const member of members) {
      yield;
      prepares.push(this.readOnce(member, this.prepares, readPrepare));
    }
    return { proposal, prepares };
  }

  private readOnce<T>(part: Uint8Array, known: Map<string, T>, read: (part: Uint8Array) => T): T {
    this.countOne();
    const key = asBuffer(part).toString("latin1");
    const repeated = known.get(key);
    if (repeated !== undefined) return repeated;
    const signed = read(part);
    known.set(key, signed);
    return signed;
  }

  private countOne(): void {
    this.count += 1;
    if (this.count > this.limits.payloads)
      throw new DecodingError("tooManySignatures", `more than ${this.limits.payloads} signed payloads`);
  }

  private membersOf(list: Uint8Array): readonly Uint8Array[] {
    const parts: Uint8Array[] = [];
    for (const { start, until } of rlpMembers(list)) {
      if (parts.length === this.limits.members)
        throw new DecodingError("tooManySignatures", `a certificate of more than ${this.limits.members}`);
      parts.push(list.subarray(start, until));
    }
    return parts;
  }
}

/** The height and round that a payload of any kind begins with; does not read the rest. */
export function readRoundId(fields: Uint8Array): RoundId {
  const parts: Uint8Array[] = [];
  for (const { start, until } of rlpMembers(fields)) {
    parts.push(fields.subarray(start, until));
    if (parts.length === 2) break;
  }
  const [height, round] = parts;
  if (height === undefined || round === undefined) throw new RangeError("a payload has a height and a round");
  return roundIdFrom(height, round);
}

const SIGNATURE_BYTES = 65;

function readSigned<P extends Payload>(
  part: Uint8Array,
  kind: P["kind"],
  readPayload: (fields: Uint8Array) => P,
): Unverified<P> {
  const signed = split(part);
  return { kind, payload: readPayload(signed.fields), ...signed };
}

function split(
  part: Uint8Array,
): Pick<Unverified<unknown>, "bytes" | "fields" | "signature" | "signatureBytes"> {
  const [fields, signaturePart] = partsOf(part, 2);
  const signatureBytes = stringOf(signaturePart, SIGNATURE_BYTES);
  return { bytes: part, fields, signature: signatureOf(signatureBytes), signatureBytes };
}

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
    ...roundIdFrom(height, round),
    digest: digestFrom(digest),
    seal: signatureOf(stringOf(seal, SIGNATURE_BYTES)),
  };
}

function readSubject(fields: Uint8Array): RoundId & { readonly digest: Digest } {
  const [height, round, digest] = partsOf(fields, 3);
  return { ...roundIdFrom(height, round), digest: digestFrom(digest) };
}

function roundIdFrom(height: Uint8Array, round: Uint8Array): RoundId {
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

function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

/** Why bytes do not decode to a message; a small set, used as a metric label. */
export const DECODING_ERRORS = [
  "unknownCode",
  "oversized",
  "malformed",
  "malformedBlock",
  "foreignBody",
  "unknownSigner",
  "unwelcomeAuthor",
  "tooManySignatures",
  "wrongCandidate",
  ...CERTIFICATE_ERRORS,
] as const;

export type DecodingErrorCode = (typeof DECODING_ERRORS)[number];

/** Ends the decoding of a message with a code other than "malformed"; never leaves the codec. */
export class DecodingError extends RangeError {
  readonly code: DecodingErrorCode;

  constructor(code: DecodingErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The encoded members of a list of exactly `count`; throws RangeError for anything else. Stops reading a longer list at
 * the first surplus member.
 */
export function partsOf<Count extends number>(list: Uint8Array, count: Count): Parts<Count> {
  const parts: Uint8Array[] = [];
  for (const { start, until } of rlpMembers(list)) {
    if (parts.length === count) throw new RangeError(`a list of more than ${count}`);
    parts.push(list.subarray(start, until));
  }
  if (parts.length !== count) throw new RangeError(`a list of ${parts.length}, not ${count}`);
  return parts as unknown as Parts<Count>;
}

/** A tuple of `Count` encodings. */
type Parts<Count extends number> = Count extends 1
  ? readonly [Uint8Array]
  : Count extends 2
    ? readonly [Uint8Array, Uint8Array]
    : Count extends 3
      ? readonly [Uint8Array, Uint8Array, Uint8Array]
      : readonly [Uint8Array, Uint8Array, Uint8Array, Uint8Array];

/** The string of exactly `length` bytes that `part` encodes, as a view; throws RangeError for anything else. */
function stringOf(part: Uint8Array, length: number): Uint8Array {
  const string = readRlpString(part);
  if (string.length !== length) throw new RangeError(`${string.length} bytes instead of ${length}`);
  return string;
}

/** True for an empty string, which stands for an absent certificate or block; an empty list does not. */
export function isAbsent(part: Uint8Array): boolean {
  return part.length === 1 && part[0] === 0x80;
}
