import type { Address } from "../primitives/address.ts";
import { assertNever } from "../primitives/assert.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { Candidate } from "./candidate.ts";
import {
  CERTIFICATE_ERRORS,
  findRoundChangeError,
  findRoundChangesError,
  highestPrepared,
} from "./certificateRules.ts";
import type { Authored, Proposal, RoundChange } from "./message.ts";
import { isMember, isProposer, type ValidatorSet } from "./validatorSet.ts";

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
 * Round 31 alone lasts 68 years. A faulty validator could request the last encodable round, after which those that join
 * would have no further round, not even after a restart.
 */
const ROUNDS_IN_REACH = 2 ** 31;

export type WithRound = (candidate: Candidate, round: number) => Candidate;

/**
 * Finds the error in a message of this height, independent of our round (ibft2.md#message-rules); undefined when it is
 * valid. Does not validate the block of a proposal: that takes an execution.
 */
export function findMessageError(
  validatorSet: ValidatorSet,
  withRound: WithRound,
  message: Authored,
): MessageErrorCode | undefined {
  const { author, payload } = message.signed;
  if (payload.height !== validatorSet.height) return "wrongHeight";
  if (!isMember(validatorSet, author)) return "authorNotValidator";
  if (payload.round >= ROUNDS_IN_REACH) return "roundOutOfReach";
  switch (message.kind) {
    case "proposal":
      return findProposalError(validatorSet, withRound, message);
    case "prepare":
      return isProposer(validatorSet, payload.round, author) ? "prepareByProposer" : undefined;
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
