import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { keccak256 } from "../../primitives/hash.ts";
import { concatBytes, equalBytes } from "../../primitives/hex.ts";
import type { Signature } from "../../primitives/secp256k1.ts";
import type {
  CommitPayload,
  Payload,
  PreparedCertificate,
  PreparePayload,
  ProposalPayload,
  RoundChangeCertificate,
  RoundChangePayload,
  Signed,
} from "../message.ts";
import { isMember, isProposer, type ValidatorSet } from "../validatorSet.ts";
import { keepEncoding, MESSAGE_CODES } from "./encoding.ts";
import {
  createPayloadReader,
  DecodingError,
  type DecodingErrorCode,
  type Unverified,
  type UnverifiedPrepared,
  type UnverifiedRoundChange,
} from "./payloadReader.ts";

export type Recover = (digest: Uint8Array, signature: Signature) => Address | undefined;

/** Cache of recovered signers, keyed by signed hash and signature, so that a repeated payload costs only a look-up. */
export interface KnownSigners {
  find(key: string): Address | undefined;
  add(key: string, signer: Address): void;
}

/** What comes next at a point where a reading may pause: something short, a signature recovery, or a block. */
export type ReadingStep = "payload" | "signature" | "block";

/** A decoding with points to pause at; between payloads it yields undefined. */
export type Reading<T> = Generator<ReadingStep | undefined, T>;

/**
 * Decodes the signed payloads of one message and recovers their signers (ibft2.md#payloads, ibft2.md#signatures), cheap
 * checks first:
 *
 *   counts -> contents -> author of the message, admitted -> heights, rounds, digests of certificates
 *          -> their signatures, one by one, up to the first invalid one
 *
 * With the validator set of the height, a signature of a non-validator, a duplicate, or one of the wrong role ends the
 * decoding, so that a faulty peer causes few recoveries. Throws RangeError for anything refused.
 */
export interface SignedReader {
  /** The outer payload of a message; its author is admitted before any more expensive check. */
  proposal(part: Uint8Array): Reading<Signed<ProposalPayload>>;
  prepare(part: Uint8Array): Reading<Signed<PreparePayload>>;
  commit(part: Uint8Array): Reading<Signed<CommitPayload>>;
  roundChange(part: Uint8Array): Reading<Signed<RoundChangePayload>>;
  /** The certificate that a quorum requested `round`. */
  roundChangeCertificate(part: Uint8Array, round: number): Reading<RoundChangeCertificate>;
}

export interface SignedReaderParts {
  readonly recover: Recover;
  /** Throws to refuse the author of the message. */
  readonly admit: (author: Address) => void;
  /** The set of the message's height; without it only counts are bounded. */
  readonly validatorSet?: ValidatorSet | undefined;
  readonly known?: KnownSigners | undefined;
}

/** Distinct signatures in one message whose validator set is unknown, each some 45 µs. */
const SIGNATURE_LIMIT = 4096;
/** Signed payloads in such a message, repetitions included. */
const PAYLOAD_COUNT_LIMIT = 20_000;

export function createSignedReader({ recover, admit, validatorSet, known }: SignedReaderParts): SignedReader {
  const payloads = createPayloadReader(limitsOf(validatorSet));
  const authors = new Map<string, Address>();

  function* authorOf({ kind, fields, signature, signatureBytes }: Unverified<unknown>): Reading<Address> {
    const hash = keccak256(concatBytes(Uint8Array.of(MESSAGE_CODES[kind]), fields));
    const key = toKey(hash) + toKey(signatureBytes);
    const cached = authors.get(key) ?? known?.find(key);
    if (cached !== undefined) return cached;
    if (authors.size >= SIGNATURE_LIMIT && validatorSet === undefined)
      throw new DecodingError("tooManySignatures", `more than ${SIGNATURE_LIMIT} distinct signatures`);
    yield "signature";
    const author = recover(hash, signature);
    if (author === undefined)
      throw new DecodingError("unknownSigner", `no key can be recovered from the signature of a ${kind}`);
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

  function* readOuter<P extends Payload>(one: Unverified<P>): Reading<Signed<P>> {
    checkHeight(one.payload.height);
    const signed = yield* verify(one);
    admit(signed.author);
    return signed;
  }

  function checkHeight(height: bigint): void {
    if (validatorSet !== undefined && height !== validatorSet.height)
      throw new DecodingError("wrongHeight", "not for the height in progress");
  }

  function* verifyPrepared({ proposal, prepares }: UnverifiedPrepared): Reading<PreparedCertificate> {
    const signed = yield* verify(proposal);
    if (validatorSet !== undefined && !isProposer(validatorSet, signed.payload.round, signed.author))
      throw new DecodingError("wrongProposer", "a prepared Proposal not signed by its round's proposer");
    const verified: Signed<PreparePayload>[] = [];
    const checkAuthor = createAuthorCheck(validatorSet);
    for (const prepare of prepares) {
      yield "payload";
      const one = yield* verify(prepare);
      if (validatorSet !== undefined && equalBytes(one.author, signed.author))
        throw new DecodingError("prepareByProposer", "a Prepare by the proposer");
      checkAuthor(one.author);
      verified.push(one);
    }
    return { proposal: signed, prepares: verified };
  }

  function* verifyRoundChange(
    one: Unverified<UnverifiedRoundChange>,
    checkAuthor: (author: Address) => void,
  ): Reading<Signed<RoundChangePayload>> {
    const author = yield* authorOf(one);
    checkAuthor(author);
    const { height, round, prepared } = one.payload;
    const certificate = prepared === undefined ? undefined : yield* verifyPrepared(prepared);
    const payload: RoundChangePayload = {
      kind: "roundChange",
      height,
      round,
      ...(certificate !== undefined && { prepared: certificate }),
    };
    const signed = { payload, signature: one.signature, author };
    keepEncoding(signed, one.bytes);
    return signed;
  }

  return {
    *proposal(part) {
      const signed = yield* readOuter(payloads.proposal(part));
      if (validatorSet !== undefined && !isProposer(validatorSet, signed.payload.round, signed.author))
        throw new DecodingError("wrongProposer", "a Proposal not signed by the round's proposer");
      return signed;
    },
    prepare: (part) => readOuter(payloads.prepare(part)),
    commit: (part) => readOuter(payloads.commit(part)),
    *roundChange(part) {
      const one = yield* payloads.roundChange(part);
      checkHeight(one.payload.height);
      if (validatorSet !== undefined) screenRoundChange(validatorSet, one.payload);
      return yield* verifyRoundChange(one, admit);
    },
    *roundChangeCertificate(part, round) {
      const list = yield* payloads.roundChanges(part);
      if (validatorSet !== undefined) yield* screenRoundChanges(validatorSet, round, list);
      const checkAuthor = createAuthorCheck(validatorSet);
      const verified: Signed<RoundChangePayload>[] = [];
      for (const one of list) verified.push(yield* verifyRoundChange(one, checkAuthor));
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
  // A round change by each validator, each with a Proposal and a Prepare by each validator.
  return { members, payloads: members * (members + 2) };
}

/** Refuses authors that are not validators, and duplicates. */
function createAuthorCheck(validatorSet: ValidatorSet | undefined): (author: Address) => void {
  const seen = new Set<string>();
  return (author) => {
    if (validatorSet === undefined) return;
    if (!isMember(validatorSet, author))
      throw new DecodingError("authorNotValidator", "not signed by a validator");
    const key = toKey(author);
    if (seen.has(key)) throw new DecodingError("duplicateAuthors", "signed twice by one validator");
    seen.add(key);
  };
}

/** Checks of a certificate that need no signature (ibft2.md#proposal-rules, ibft2.md#round-change-rules). */
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
  if (isInvalid) throw new DecodingError(code, "the certificate is invalid");
}
