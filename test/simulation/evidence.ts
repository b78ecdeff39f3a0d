import { withRound } from "../../src/ibft/candidate.ts";
import type { PreparedCertificate, Proposal, RoundChangePayload, Signed } from "../../src/ibft/message.ts";
import { proposerOf, type ValidatorSet } from "../../src/ibft/validatorSet.ts";
import type { Address } from "../../src/primitives/address.ts";
import { equalBytes, toDigits } from "../../src/primitives/hex.ts";

/**
 * Checks that a proposal may be voted for, implemented a second time from the rules
 * (ibft2.md#message-rules), so that a rule missing in the state machine is noticed here. Undefined when
 * the proposal is valid.
 */
export function findGap(
  { signed, candidate, certificate }: Proposal,
  validatorSet: ValidatorSet,
): string | undefined {
  const { round, height, digest } = signed.payload;
  const { header, extra } = candidate;
  if (!equalBytes(signed.author, turnOf(validatorSet, round))) return "it was another's turn";
  if (height !== validatorSet.height || header.number !== height || extra.round !== round)
    return "the block is for another place";
  if (!equalBytes(candidate.digest, digest)) return "the block is not the one that was signed";
  const isOfAuthor = equalBytes(header.coinbase, signed.author);
  if (round === 0) return certificate === undefined && isOfAuthor ? undefined : "another's block in round 0";
  const asked = certificate ?? [];
  if (countOf(asked, validatorSet) < asked.length || asked.length < quorumOf(validatorSet))
    return "too few requests for the round, or a duplicate, or none";
  for (const request of asked) {
    const gap = findRoundChangeGap(request, round, validatorSet);
    if (gap !== undefined) return gap;
  }
  const proofs = asked.flatMap(({ payload }) => payload.prepared?.proposal.payload ?? []);
  const [last] = proofs.toSorted((a, b) => b.round - a.round);
  if (last === undefined) return isOfAuthor ? undefined : "another's block, and none was prepared";
  return equalBytes(withRound(candidate, last.round).digest, last.digest)
    ? undefined
    : "another block than the one that was prepared last";
}

function findRoundChangeGap(
  { payload }: Signed<RoundChangePayload>,
  round: number,
  validatorSet: ValidatorSet,
): string | undefined {
  if (payload.round !== round || payload.height !== validatorSet.height) return "a request for another round";
  if (payload.prepared === undefined) return undefined;
  if (payload.prepared.proposal.payload.round >= round) return "prepared in a round to come";
  return isProven(payload.prepared, validatorSet) ? undefined : "a prepared block without its proof";
}

function isProven({ proposal, prepares }: PreparedCertificate, validatorSet: ValidatorSet): boolean {
  const { round, height, digest } = proposal.payload;
  const proposer = turnOf(validatorSet, round);
  return (
    height === validatorSet.height &&
    equalBytes(proposal.author, proposer) &&
    prepares.length >= quorumOf(validatorSet) - 1 &&
    countOf(prepares, validatorSet) === prepares.length &&
    prepares.every(
      ({ author, payload }) =>
        !equalBytes(author, proposer) &&
        payload.height === height &&
        payload.round === round &&
        equalBytes(payload.digest, digest),
    )
  );
}

/** Quorum of the validators, computed anew, because sabotage may have changed that of the validator set. */
function quorumOf({ validators }: ValidatorSet): number {
  return Math.ceil((2 * validators.length) / 3);
}

const turnOf = ({ validators, previousProposer }: ValidatorSet, round: number): Address =>
  proposerOf(validators, previousProposer, round);

/** Number of distinct validators that signed. */
function countOf(signed: readonly { readonly author: Address }[], { validators }: ValidatorSet): number {
  const members = new Set(validators.map(toDigits));
  return new Set(signed.map(({ author }) => toDigits(author)).filter((author) => members.has(author))).size;
}
