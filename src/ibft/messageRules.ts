import type { Address } from "../primitives/address.ts";
import { assertNever } from "../primitives/assert.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { Candidate } from "./candidate.ts";
import {
  CERTIFICATE_ERRORS,
  findRoundChangeError,
  findRoundChangesError,
  highestPrepared,
} from "./certificate.ts";
import type { Authored, Proposal, RoundChange } from "./message.ts";
import { isMember, isProposer, type ValidatorSet } from "./validatorSet.ts";

/** Why a readable message of a validator is worth nothing; a small set, to be counted by. */
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
 * Round 31 alone lasts 68 years. Whoever asks for the last round that can be spelled wants those who go along to have none
 * to go to after it, not even after a restart.
 */
const ROUNDS_IN_REACH = 2 ** 31;

export type WithRound = (candidate: Candidate, round: number) => Candidate;

/**
 * Finds what is wrong with a message of this height, whatever round we are in (ibft2.md#message-rules);
 * undefined when nothing is. Whether the candidate of a proposal is a sound block is not judged here: that
 * takes an execution.
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
 * A new block names its proposer as the one who built it. The incumbent asks only that some validator is named
 * (ibft2.md#header-rules, rule 11), though whoever is named has cast the block's vote and moves the turn: one
 * liar could vote for all. Its own blocks always pass, and a block that a quorum has sealed is imported by
 * its rules.
 */
function findBuilderError(author: Address, { header }: Candidate): "foreignBuilder" | undefined {
  return equalBytes(header.coinbase, author) ? undefined : "foreignBuilder";
}

/** A certificate brings its block along, and a block its certificate (ibft2.md#round-change-rules). */
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
