import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { keccak256 } from "../../primitives/hash.ts";
import { concatBytes } from "../../primitives/hex.ts";
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
import { type CertificateErrorCode, findContentError, findPrepareError } from "../messageRules.ts";
import { isMember, isProposer, type ValidatorSet } from "../validatorSet.ts";
import { keepEncoding, MESSAGE_CODES } from "./encoding.ts";
import {
  CertificateReader,
  DecodingError,
  readCommit,
  readPrepare,
  readProposal,
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

/** The work that follows a point where a reading may pause: something short, a signature recovery, or a block. */
type ReadingStep = "payload" | "signature" | "block";

/** A decoding that can pause at each yield; between payloads it yields undefined. */
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

interface SignedReaderParts {
  readonly recover: Recover;
  /** Throws to refuse the author of the message. */
  readonly admit: (author: Address) => void;
  /** The set of the message's height; without it only counts are bounded. */
  readonly validatorSet?: ValidatorSet | undefined;
  readonly known?: KnownSigners | undefined;
}

/** Most distinct signatures in one message whose validator set is unknown; each takes some 45 µs. */
const SIGNATURE_LIMIT = 4096;
/** Most signed payloads in such a message, repetitions included. */
const PAYLOAD_COUNT_LIMIT = 20_000;

export function createSignedReader({ recover, admit, validatorSet, known }: SignedReaderParts): SignedReader {
  return new CheckedReader(new SignerRecovery(recover, validatorSet, known), admit, validatorSet);
}

class CheckedReader implements SignedReader {
  private readonly certificates: CertificateReader;
  private readonly signers: SignerRecovery;
  private readonly admit: (author: Address) => void;
  private readonly validatorSet: ValidatorSet | undefined;

  constructor(
    signers: SignerRecovery,
    admit: (author: Address) => void,
    validatorSet: ValidatorSet | undefined,
  ) {
    this.certificates = new CertificateReader(limitsOf(validatorSet));
    this.signers = signers;
    this.admit = admit;
    this.validatorSet = validatorSet;
  }

  *proposal(part: Uint8Array): Reading<Signed<ProposalPayload>> {
    const signed = yield* this.readOuter(readProposal(part));
    this.checkProposer(signed, "a Proposal not signed by the round's proposer");
    return signed;
  }

  prepare(part: Uint8Array): Reading<Signed<PreparePayload>> {
    return this.readOuter(readPrepare(part));
  }

  commit(part: Uint8Array): Reading<Signed<CommitPayload>> {
    return this.readOuter(readCommit(part));
  }

  *roundChange(part: Uint8Array): Reading<Signed<RoundChangePayload>> {
    const one = yield* this.certificates.roundChange(part);
    this.checkHeight(one.payload.height);
    if (this.validatorSet !== undefined) refuse(findContentError(this.validatorSet, one.payload));
    return yield* this.verifyRoundChange(one, this.admit);
  }

  *roundChangeCertificate(part: Uint8Array, round: number): Reading<RoundChangeCertificate> {
    const list = yield* this.certificates.roundChanges(part);
    if (this.validatorSet !== undefined) yield* screenRoundChanges(this.validatorSet, round, list);
    const checkAuthor = this.createAuthorCheck();
    const verified: Signed<RoundChangePayload>[] = [];
    for (const one of list) verified.push(yield* this.verifyRoundChange(one, checkAuthor));
    return verified;
  }

  private *readOuter<P extends Payload>(one: Unverified<P>): Reading<Signed<P>> {
    this.checkHeight(one.payload.height);
    const signed = yield* this.signers.verify(one);
    this.admit(signed.author);
    return signed;
  }

  private checkHeight(height: bigint): void {
    if (this.validatorSet !== undefined && height !== this.validatorSet.height)
      throw new DecodingError("wrongHeight", "not for the height in progress");
  }

  private checkProposer({ payload, author }: Signed<ProposalPayload>, reason: string): void {
    if (this.validatorSet !== undefined && !isProposer(this.validatorSet, payload.round, author))
      throw new DecodingError("wrongProposer", reason);
  }

  private *verifyRoundChange(
    one: Unverified<UnverifiedRoundChange>,
    checkAuthor: (author: Address) => void,
  ): Reading<Signed<RoundChangePayload>> {
    const author = yield* this.signers.authorOf(one);
    checkAuthor(author);
    const { height, round, prepared } = one.payload;
    const certificate = prepared === undefined ? undefined : yield* this.verifyPrepared(prepared);
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

  private *verifyPrepared({ proposal, prepares }: UnverifiedPrepared): Reading<PreparedCertificate> {
    const signed = yield* this.signers.verify(proposal);
    this.checkProposer(signed, "a prepared Proposal not signed by its round's proposer");
    const verified: Signed<PreparePayload>[] = [];
    const checkAuthor = this.createAuthorCheck(signed.author);
    for (const prepare of prepares) {
      yield "payload";
      const one = yield* this.signers.verify(prepare);
      checkAuthor(one.author);
      verified.push(one);
    }
    return { proposal: signed, prepares: verified };
  }

  /** Refuses authors that are not validators, and duplicates; for the Prepares of a Proposal also its author. */
  private createAuthorCheck(proposer?: Address): (author: Address) => void {
    const { validatorSet } = this;
    const seen = new Set<string>();
    return (author) => {
      if (validatorSet === undefined) return;
      if (proposer !== undefined)
        refuse(
          findPrepareError(validatorSet, author, proposer),
          "a Prepare by the proposer, or by no validator",
        );
      else if (!isMember(validatorSet, author)) refuse("authorNotValidator", "not signed by a validator");
      const key = toKey(author);
      if (seen.has(key)) throw new DecodingError("duplicateAuthors", "signed twice by one validator");
      seen.add(key);
    };
  }
}

/** Recovers the signers of one message's payloads: each signature once. */
class SignerRecovery {
  private readonly recover: Recover;
  private readonly validatorSet: ValidatorSet | undefined;
  private readonly known: KnownSigners | undefined;
  /** Recovered signers, keyed by signed hash and signature. */
  private readonly authors = new Map<string, Address>();

  constructor(recover: Recover, validatorSet: ValidatorSet | undefined, known: KnownSigners | undefined) {
    this.recover = recover;
    this.validatorSet = validatorSet;
    this.known = known;
  }

  *verify<P extends Payload>(one: Unverified<P>): Reading<Signed<P>> {
    if (one.verified !== undefined) return one.verified as Signed<P>;
    const author = yield* this.authorOf(one);
    const signed = { payload: one.payload, signature: one.signature, author };
    keepEncoding(signed, one.bytes);
    (one as { verified?: Signed<P> }).verified = signed;
    return signed;
  }

  *authorOf({ kind, fields, signature, signatureBytes }: Unverified<unknown>): Reading<Address> {
    const { authors, known, validatorSet } = this;
    const hash = keccak256(concatBytes(Uint8Array.of(MESSAGE_CODES[kind]), fields));
    const key = toKey(hash) + toKey(signatureBytes);
    const cached = authors.get(key) ?? known?.find(key);
    if (cached !== undefined) return cached;
    if (authors.size >= SIGNATURE_LIMIT && validatorSet === undefined)
      throw new DecodingError("tooManySignatures", `more than ${SIGNATURE_LIMIT} distinct signatures`);
    yield "signature";
    const author = this.recover(hash, signature);
    if (author === undefined)
      throw new DecodingError("unknownSigner", `no key can be recovered from the signature of a ${kind}`);
    authors.set(key, author);
    if (validatorSet === undefined || isMember(validatorSet, author)) known?.add(key, author);
    return author;
  }
}

function limitsOf(validatorSet: ValidatorSet | undefined): {
  readonly members: number;
  readonly payloads: number;
} {
  if (validatorSet === undefined) return { members: PAYLOAD_COUNT_LIMIT, payloads: PAYLOAD_COUNT_LIMIT };
  const members = validatorSet.validators.length;
  // The most is a round change by each validator, each with a Proposal and a Prepare by each validator.
  return { members, payloads: members * (members + 2) };
}

/** Checks of a certificate that need no signature (ibft2.md#proposal-rules, ibft2.md#round-change-rules). */
function* screenRoundChanges(
  validatorSet: ValidatorSet,
  round: number,
  list: readonly Unverified<UnverifiedRoundChange>[],
): Reading<void> {
  if (list.length < validatorSet.quorum) refuse("tooFewRoundChanges");
  for (const { payload } of list) {
    yield "payload";
    if (payload.height !== validatorSet.height) refuse("wrongHeight");
    if (payload.round !== round) refuse("wrongRound");
    refuse(findContentError(validatorSet, payload));
  }
}

function refuse(error: CertificateErrorCode | undefined, message = "the certificate is invalid"): void {
  if (error !== undefined) throw new DecodingError(error, message);
}
