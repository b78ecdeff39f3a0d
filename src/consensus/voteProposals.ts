import { chooseVote, type VoteTally } from "../ibft/validatorVotes.ts";
import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { ValidatorVote } from "../types/extraData.ts";

/**
 * What the operator wants of the validator set: forgotten at a restart, never removed by itself
 * (ibft2.md#which-vote-a-block-carries).
 */
export interface VoteProposals {
  /** Replaces an earlier proposal for the same address. False when PROPOSALS_LIMIT others are there already. */
  propose(vote: ValidatorVote): boolean;
  discard(recipient: Address): void;
  pending(): readonly ValidatorVote[];
  /** The vote for the block that `self` builds next: each proposal that still changes something, in turn. */
  take(tally: VoteTally, self: Address): ValidatorVote | undefined;
}

/** More than anybody proposes by hand. */
const PROPOSALS_LIMIT = 1000;

export function createVoteProposals(): VoteProposals {
  const byRecipient = new Map<string, ValidatorVote>();
  let turn = 0;
  return {
    propose(vote) {
      const key = toKey(vote.recipient);
      if (byRecipient.size >= PROPOSALS_LIMIT && !byRecipient.has(key)) return false;
      byRecipient.set(key, vote);
      return true;
    },
    discard: (recipient) => void byRecipient.delete(toKey(recipient)),
    pending: () => [...byRecipient.values()],
    take(tally, self) {
      turn += 1;
      return chooseVote(tally, self, [...byRecipient.values()], turn);
    },
  };
}
