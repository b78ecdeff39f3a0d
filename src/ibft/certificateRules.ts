import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import { equalBytes } from "../primitives/hex.ts";
import type {
  PreparedCertificate,
  PreparePayload,
  ProposalPayload,
  RoundChangeCertificate,
  RoundChangePayload,
  Signed,
} from "./message.ts";
import { isMember, isProposer, type ValidatorSet } from "./validatorSet.ts";

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

/**
 * Finds the error in a signed round-change request, certificate included (ibft2.md#round-change-rules); undefined when
 * it is valid.
 */
export function findRoundChangeError(
  validatorSet: ValidatorSet,
  { author, payload }: Signed<RoundChangePayload>,
): CertificateErrorCode | undefined {
  if (!isMember(validatorSet, author)) return "authorNotValidator";
  if (payload.height !== validatorSet.height) return "wrongHeight";
  if (payload.round === 0) return "wrongRound";
  if (payload.prepared === undefined) return undefined;
  if (payload.prepared.proposal.payload.round >= payload.round) return "wrongRound";
  return findPreparedError(validatorSet, payload.prepared);
}

/** Finds the error in a prepared certificate. It may have more Prepares than needed. */
function findPreparedError(
  validatorSet: ValidatorSet,
  { proposal, prepares }: PreparedCertificate,
): CertificateErrorCode | undefined {
  if (proposal.payload.height !== validatorSet.height) return "wrongHeight";
  if (!isProposer(validatorSet, proposal.payload.round, proposal.author)) return "wrongProposer";
  if (hasDuplicates(prepares.map(({ author }) => author))) return "duplicateAuthors";
  if (prepares.length < validatorSet.prepareQuorum) return "tooFewPrepares";
  for (const prepare of prepares) {
    const error = findPrepareError(validatorSet, prepare, proposal);
    if (error !== undefined) return error;
  }
  return undefined;
}

/** Finds the error in a round-change certificate for `round` (ibft2.md#proposal-rules, item 3). */
export function findRoundChangesError(
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

function findPrepareError(
  validatorSet: ValidatorSet,
  { author, payload }: Signed<PreparePayload>,
  { author: proposer, payload: proposal }: Signed<ProposalPayload>,
): CertificateErrorCode | undefined {
  if (!isMember(validatorSet, author)) return "authorNotValidator";
  if (equalBytes(author, proposer)) return "prepareByProposer";
  if (payload.height !== proposal.height) return "wrongHeight";
  if (payload.round !== proposal.round) return "wrongRound";
  return equalBytes(payload.digest, proposal.digest) ? undefined : "wrongDigest";
}

function hasDuplicates(addresses: readonly Address[]): boolean {
  return new Set(addresses.map(toKey)).size < addresses.length;
}
