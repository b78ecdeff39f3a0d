import type { Address } from "../primitives/address.ts";
import { assertNever } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { Candidate } from "./candidate.ts";
import type {
  PreparedCertificate,
  PreparePayload,
  Proposal,
  ProposalPayload,
  RoundChange,
  RoundChangeCertificate,
  RoundChangePayload,
  RoundId,
  Signed,
  SignedMessage,
} from "./message.ts";
import { isMember, isProposer, proposerAt, type ValidatorSet } from "./validatorSet.ts";

/** Why a certificate is invalid. */
export const CERTIFICATE_ERRORS = [
  "authorNotValidator",
  "duplicateAuthors",
  "wrongHeight",
  "wrongRound",
  "wrongProposer",
  "prepareByProposer",
  "wrongDigest",
  "tooFewPrepares",
  "tooFewRoundChanges",
] as const;

export type CertificateErrorCode = (typeof CERTIFICATE_ERRORS)[number];

/** Why a decoded message is invalid; a small set, used as a metric label. */
export const MESSAGE_ERRORS = [
  ...CERTIFICATE_ERRORS,
  "roundOutOfReach",
  "wrongCandidate",
  "foreignBuilder",
  "certificateMissing",
  "certificateUncalledFor",
  "preparedBlockReplaced",
  "wrongSealer",
  "candidateMissing",
  "candidateUncalledFor",
] as const;

export type MessageErrorCode = (typeof MESSAGE_ERRORS)[number];

/**
 * Limit on rounds: round 31 alone lasts 68 years. A faulty validator could request the last encodable round, after which
 * those that join would have no further round, not even after a restart.
 */
const ROUNDS_IN_REACH = 2 ** 31;

type WithRound = (candidate: Candidate, round: number) => Candidate;

/**
 * Finds the error in a message of this height, independent of our round (ibft2.md#message-rules); undefined when it is
 * valid. Does not validate the block of a proposal: that takes an execution.
 */
export function findMessageError(
  validatorSet: ValidatorSet,
  withRound: WithRound,
  message: SignedMessage,
): MessageErrorCode | undefined {
  const { author, payload } = message.signed;
  if (payload.height !== validatorSet.height) return "wrongHeight";
  if (!isMember(validatorSet, author)) return "authorNotValidator";
  if (payload.round >= ROUNDS_IN_REACH) return "roundOutOfReach";
  switch (message.kind) {
    case "proposal":
      return findProposalError(validatorSet, withRound, message);
    case "prepare":
      return findPrepareError(validatorSet, author, proposerAt(validatorSet, payload.round));
    case "commit":
      return message.sealer !== undefined && equalBytes(message.sealer, author) ? undefined : "wrongSealer";
    case "roundChange":
      return (
        findRoundChangeError(validatorSet, message.signed) ?? findPreparedBlockError(validatorSet, message)
      );
    default:
      return assertNever(message);
  }
}

function findProposalError(
  validatorSet: ValidatorSet,
  withRound: WithRound,
  { signed, candidate, certificate }: Proposal,
): MessageErrorCode | undefined {
  const { round, digest } = signed.payload;
  if (!isProposer(validatorSet, round, signed.author)) return "wrongProposer";
  if (!isCandidateOf(candidate, validatorSet.height, round, digest)) return "wrongCandidate";
  if (round === 0)
    return certificate === undefined ? findBuilderError(signed.author, candidate) : "certificateUncalledFor";
  if (certificate === undefined) return "certificateMissing";
  const error = findRoundChangesError(validatorSet, round, certificate);
  if (error !== undefined) return error;
  const prepared = highestPrepared(certificate)?.proposal.payload;
  if (prepared === undefined) return findBuilderError(signed.author, candidate);
  const isThatBlock = equalBytes(withRound(candidate, prepared.round).digest, prepared.digest);
  return isThatBlock ? undefined : "preparedBlockReplaced";
}

/**
 * The coinbase of a new block must be its proposer. Besu accepts any validator there (ibft2.md#header-rules, rule 11),
 * but the coinbase owns the block's validator vote and decides the next proposer, so one faulty validator could vote for
 * all. Besu's own blocks always pass, and a block sealed by a quorum is imported by Besu's rule.
 */
function findBuilderError(author: Address, { header }: Candidate): "foreignBuilder" | undefined {
  return equalBytes(header.coinbase, author) ? undefined : "foreignBuilder";
}

/** A prepared certificate requires its block, and a block its certificate (ibft2.md#round-change-rules). */
function findPreparedBlockError(
  validatorSet: ValidatorSet,
  { signed, candidate }: RoundChange,
): MessageErrorCode | undefined {
  const prepared = signed.payload.prepared?.proposal.payload;
  if (prepared === undefined) return candidate === undefined ? undefined : "candidateUncalledFor";
  if (candidate === undefined) return "candidateMissing";
  const isThatBlock = isCandidateOf(candidate, validatorSet.height, prepared.round, prepared.digest);
  return isThatBlock ? undefined : "wrongCandidate";
}

function isCandidateOf(candidate: Candidate, height: bigint, round: number, digest: Uint8Array): boolean {
  return (
    candidate.header.number === height &&
    candidate.extra.round === round &&
    equalBytes(candidate.digest, digest)
  );
}

/**
 * Finds the error in a signed round-change request, certificate included (ibft2.md#round-change-rules); undefined when
 * it is valid.
 */
function findRoundChangeError(
  validatorSet: ValidatorSet,
  { author, payload }: Signed<RoundChangePayload>,
): CertificateErrorCode | undefined {
  if (!isMember(validatorSet, author)) return "authorNotValidator";
  return (
    findContentError(validatorSet, payload) ??
    (payload.prepared && findPreparedSignerError(validatorSet, payload.prepared))
  );
}

/** The content of a round-change request, regardless of the signatures. */
interface RoundChangeContent extends RoundId {
  readonly prepared?: {
    readonly proposal: { readonly payload: ProposalPayload };
    readonly prepares: readonly { readonly payload: PreparePayload }[];
  };
}

/**
 * Finds the error in the content of a round-change request, so that no signature is recovered for one that cannot be valid.
 * A prepared certificate may have more Prepares than needed.
 */
export function findContentError(
  validatorSet: ValidatorSet,
  { height, round, prepared }: RoundChangeContent,
): CertificateErrorCode | undefined {
  if (height !== validatorSet.height) return "wrongHeight";
  if (round === 0) return "wrongRound";
  if (prepared === undefined) return undefined;
  const { payload: proposal } = prepared.proposal;
  if (proposal.height !== height) return "wrongHeight";
  if (proposal.round >= round) return "wrongRound";
  if (prepared.prepares.length < validatorSet.prepareQuorum) return "tooFewPrepares";
  for (const { payload } of prepared.prepares) {
    if (payload.height !== height) return "wrongHeight";
    if (payload.round !== proposal.round) return "wrongRound";
    if (!equalBytes(payload.digest, proposal.digest)) return "wrongDigest";
  }
  return undefined;
}

/** Finds the error in who signed a prepared certificate. */
function findPreparedSignerError(
  validatorSet: ValidatorSet,
  { proposal, prepares }: PreparedCertificate,
): CertificateErrorCode | undefined {
  if (!isProposer(validatorSet, proposal.payload.round, proposal.author)) return "wrongProposer";
  if (hasDuplicates(prepares.map(({ author }) => author))) return "duplicateAuthors";
  for (const { author } of prepares) {
    const error = findPrepareError(validatorSet, author, proposal.author);
    if (error !== undefined) return error;
  }
  return undefined;
}

/**
 * Finds the error in who signed a Prepare, alone or in a certificate (ibft2.md#message-rules): a validator, but not the
 * proposer of its round, whose Proposal counts as its Prepare.
 */
export function findPrepareError(
  validatorSet: ValidatorSet,
  author: Address,
  proposer: Address,
): "authorNotValidator" | "prepareByProposer" | undefined {
  if (!isMember(validatorSet, author)) return "authorNotValidator";
  return equalBytes(author, proposer) ? "prepareByProposer" : undefined;
}

/** Finds the error in a round-change certificate for `round` (ibft2.md#proposal-rules, item 3). */
function findRoundChangesError(
  validatorSet: ValidatorSet,
  round: number,
  certificate: RoundChangeCertificate,
): CertificateErrorCode | undefined {
  if (certificate.length < validatorSet.quorum) return "tooFewRoundChanges";
  if (hasDuplicates(certificate.map(({ author }) => author))) return "duplicateAuthors";
  for (const roundChange of certificate) {
    if (roundChange.payload.round !== round) return "wrongRound";
    const error = findRoundChangeError(validatorSet, roundChange);
    if (error !== undefined) return error;
  }
  return undefined;
}

/** The prepared certificate of the highest round: the first of several, undefined when there is none. */
export function highestPrepared(roundChanges: RoundChangeCertificate): PreparedCertificate | undefined {
  let highest: PreparedCertificate | undefined;
  for (const { payload } of roundChanges) {
    const round = payload.prepared?.proposal.payload.round ?? -1;
    if (round > (highest?.proposal.payload.round ?? -1)) highest = payload.prepared;
  }
  return highest;
}

function hasDuplicates(addresses: readonly Address[]): boolean {
  return new Set(addresses.map(toKey)).size < addresses.length;
}
