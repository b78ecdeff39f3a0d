import { chooseVote, type VoteTally } from "../ibft/validatorVotes.ts";
import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/hex.ts";
import type { ValidatorVote } from "../types/extraData.ts";

/** What the operator wants of the validator set: forgotten at a restart, never removed by itself (ibft2.md §6.6). */
export interface VoteProposals {
  /** Replaces an earlier proposal for the same address. */
  propose(vote: ValidatorVote): void;
  discard(recipient: Address): void;
  pending(): readonly ValidatorVote[];
  /** The vote for the block that `self` builds next: each proposal that still changes something, in turn. */
  take(tally: VoteTally, self: Address): ValidatorVote | undefined;
}

export function createVoteProposals(): VoteProposals {
  const byRecipient = new Map<string, ValidatorVote>();
  let turn = 0;
  return {
    propose: (vote) => void byRecipient.set(toKey(vote.recipient), vote),
    discard: (recipient) => void byRecipient.delete(toKey(recipient)),
    pending: () => [...byRecipient.values()],
    take(tally, self) {
      turn += 1;
      return chooseVote(tally, self, [...byRecipient.values()], turn);
    },
  };
}
