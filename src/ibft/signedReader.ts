import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import { keccak256 } from "../primitives/hash.ts";
import { concatBytes, equalBytes } from "../primitives/hex.ts";
import type { Signature } from "../primitives/secp256k1.ts";
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
import { keepEncoding, MESSAGE_CODES } from "./payloadCodec.ts";
import {
  createPayloadReader,
  type Unverified,
  type UnverifiedPrepared,
  type UnverifiedRoundChange,
} from "./payloadReader.ts";
import { DecodingError, type DecodingErrorCode } from "./strictRlp.ts";
import { isMember, isProposer, type ValidatorSet } from "./validatorSet.ts";

export type Recover = (digest: Uint8Array, signature: Signature) => Address | undefined;

/** Whose signatures were, by what was signed and the signature, so that what is repeated costs a look-up. */
export interface KnownSigners {
  find(key: string): Address | undefined;
  add(key: string, signer: Address): void;
}

/** What happens next, at each place where a reading may pause: something short, a signature, or a block. */
export type ReadingStep = "payload" | "signature" | "block";

/** A reading with places to pause; between payloads it does not say what comes next. */
export type Reading<T> = Generator<ReadingStep | undefined, T>;

/**
 * Reads the signed payloads of one message and recovers who signed them (ibft2.md#payloads,
 * ibft2.md#signatures), what is cheap first:
 *
 *   counts -> contents -> author of the message, admitted -> heights, rounds, digests of certificates
 *          -> their signatures, one by one, up to the first that has no place there
 *
 * With the validator set of the height a liar pays for what it could sign itself: a signature of a stranger, of a second
 * time or of another role ends the reading. Throws RangeError for what is refused.
 */
export interface SignedReader {
  /** The payloads of a message itself; the author is admitted before anything that costs more. */
  proposal(part: Uint8Array): Reading<Signed<ProposalPayload>>;
  prepare(part: Uint8Array): Reading<Signed<PreparePayload>>;
  commit(part: Uint8Array): Reading<Signed<CommitPayload>>;
  roundChange(part: Uint8Array): Reading<Signed<RoundChangePayload>>;
  /** The proof that `round` was asked for. */
  roundChangeCertificate(part: Uint8Array, round: number): Reading<RoundChangeCertificate>;
}

export interface SignedReaderParts {
  readonly recover: Recover;
  /** Sees the author of the message itself, and refuses it by throwing. */
  readonly admit: (author: Address) => void;
  /** Of the height that the message names; without it only counts are bounded. */
  readonly validatorSet?: ValidatorSet | undefined;
  readonly known?: KnownSigners | undefined;
}

/** Different signatures in one message whose validator set is not known, each some 45 µs. */
const SIGNATURE_LIMIT = 4096;
/** Signed payloads in such a message, repetitions included. */
const PAYLOAD_COUNT_LIMIT = 20_000;

export function createSignedReader({ recover, admit, validatorSet, known }: SignedReaderParts): SignedReader {
  const payloads = createPayloadReader(limitsOf(validatorSet));
  const authors = new Map<string, Address>();

  function* authorOf({ kind, fields, signature, signatureBytes }: Unverified<unknown>): Reading<Address> {
    const hash = keccak256(concatBytes(Uint8Array.of(MESSAGE_CODES[kind]), fields));
    const key = toKey(hash) + toKey(signatureBytes);
    const remembered = authors.get(key) ?? known?.find(key);
    if (remembered !== undefined) return remembered;
    if (authors.size >= SIGNATURE_LIMIT && validatorSet === undefined)
      throw new DecodingError("tooManySignatures", `more than ${SIGNATURE_LIMIT} different signatures`);
    yield "signature";
    const author = recover(hash, signature);
    if (author === undefined)
      throw new DecodingError("unknownSigner", `the signature of a ${kind} fits no key`);
    authors.set(key, author);
    if (validatorSet === undefined || isMember(validatorSet, author)) known?.add(key, author);
    return author;
  }

  function* verify<P extends Payload>(one: Unverified<P>): Reading<Signed<P>> {
    if (one.verified !== undefined) return one.verified as Signed<P>;
    const author = yield* authorOf(one);
    const signed = { payload: one.payload, signature: one.signature, author };
    keepEncoding(signed, one.bytes);
    (one as { verified?: Signed<P> }).verified = signed;
    return signed;
  }

  function* readOwn<P extends Payload>(one: Unverified<P>): Reading<Signed<P>> {
    checkHeight(one.payload.height);
    const signed = yield* verify(one);
    admit(signed.author);
    return signed;
  }

  function checkHeight(height: bigint): void {
    if (validatorSet !== undefined && height !== validatorSet.height)
      throw new DecodingError("wrongHeight", "not of the height in progress");
  }

  function* verifyPrepared({ proposal, prepares }: UnverifiedPrepared): Reading<PreparedCertificate> {
    const signed = yield* verify(proposal);
    if (validatorSet !== undefined && !isProposer(validatorSet, signed.payload.round, signed.author))
      throw new DecodingError("wrongProposer", "a prepared Proposal by another than its round's proposer");
    const verified: Signed<PreparePayload>[] = [];
    const judge = createMembership(validatorSet);
    for (const prepare of prepares) {
      yield "payload";
      const one = yield* verify(prepare);
      if (validatorSet !== undefined && equalBytes(one.author, signed.author))
        throw new DecodingError("prepareByProposer", "a Prepare by the proposer");
      judge(one.author);
      verified.push(one);
    }
    return { proposal: signed, prepares: verified };
  }

  function* verifyRoundChange(
    one: Unverified<UnverifiedRoundChange>,
    look: (author: Address) => void,
  ): Reading<Signed<RoundChangePayload>> {
    const author = yield* authorOf(one);
    look(author);
    const { height, round, prepared } = one.payload;
    const brought = prepared === undefined ? undefined : yield* verifyPrepared(prepared);
    const place = { height, round, ...(brought !== undefined && { prepared: brought }) };
    const payload: RoundChangePayload = { kind: "roundChange", ...place };
    const signed = { payload, signature: one.signature, author };
    keepEncoding(signed, one.bytes);
    return signed;
  }

  return {
    *proposal(part) {
      const signed = yield* readOwn(payloads.proposal(part));
      if (validatorSet !== undefined && !isProposer(validatorSet, signed.payload.round, signed.author))
        throw new DecodingError("wrongProposer", "a Proposal by another than the round's proposer");
      return signed;
    },
    prepare: (part) => readOwn(payloads.prepare(part)),
    commit: (part) => readOwn(payloads.commit(part)),
    *roundChange(part) {
      const one = yield* payloads.roundChange(part);
      checkHeight(one.payload.height);
      if (validatorSet !== undefined) screenRoundChange(validatorSet, one.payload);
      return yield* verifyRoundChange(one, admit);
    },
    *roundChangeCertificate(part, round) {
      const list = yield* payloads.roundChanges(part);
      if (validatorSet !== undefined) yield* screenRoundChanges(validatorSet, round, list);
      const judge = createMembership(validatorSet);
      const verified: Signed<RoundChangePayload>[] = [];
      for (const one of list) verified.push(yield* verifyRoundChange(one, judge));
      return verified;
    },
  };
}

function limitsOf(validatorSet: ValidatorSet | undefined): {
  readonly members: number;
  readonly payloads: number;
} {
  if (validatorSet === undefined) return { members: PAYLOAD_COUNT_LIMIT, payloads: PAYLOAD_COUNT_LIMIT };
  const members = validatorSet.validators.length;
  // A round change of each, and in it a Proposal and a Prepare of each.
  return { members, payloads: members * (members + 2) };
}

/** Refuses whoever is no validator, or comes a second time. */
function createMembership(validatorSet: ValidatorSet | undefined): (author: Address) => void {
  const seen = new Set<string>();
  return (author) => {
    if (validatorSet === undefined) return;
    if (!isMember(validatorSet, author))
      throw new DecodingError("authorNotValidator", "signed by no validator");
    const key = toKey(author);
    if (seen.has(key)) throw new DecodingError("duplicateAuthors", "signed by one validator twice");
    seen.add(key);
  };
}

/**
 * What can be told of a certificate before any signature in it is looked at (ibft2.md#proposal-rules,
 * ibft2.md#round-change-rules).
 */
function* screenRoundChanges(
  validatorSet: ValidatorSet,
  round: number,
  list: readonly Unverified<UnverifiedRoundChange>[],
): Reading<void> {
  refuseIf(list.length < validatorSet.quorum, "tooFewRoundChanges");
  for (const { payload } of list) {
    yield "payload";
    refuseIf(payload.height !== validatorSet.height, "wrongHeight");
    refuseIf(payload.round !== round, "wrongRound");
    screenRoundChange(validatorSet, payload);
  }
}

function screenRoundChange(validatorSet: ValidatorSet, { round, prepared }: UnverifiedRoundChange): void {
  refuseIf(round === 0, "wrongRound");
  if (prepared === undefined) return;
  const { height, round: preparedRound, digest } = prepared.proposal.payload;
  refuseIf(height !== validatorSet.height, "wrongHeight");
  refuseIf(preparedRound >= round, "wrongRound");
  refuseIf(prepared.prepares.length < validatorSet.prepareQuorum, "tooFewPrepares");
  for (const { payload } of prepared.prepares) {
    refuseIf(payload.height !== height, "wrongHeight");
    refuseIf(payload.round !== preparedRound, "wrongRound");
    refuseIf(!equalBytes(payload.digest, digest), "wrongDigest");
  }
}

function refuseIf(isInvalid: boolean, code: DecodingErrorCode): void {
  if (isInvalid) throw new DecodingError(code, "the certificate proves nothing");
}
