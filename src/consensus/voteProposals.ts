import { chooseVote, type VoteTally } from "../ibft/validatorVotes.ts";
import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import { isOnLastValidator, type ValidatorVote } from "../types/extraData.ts";

/**
 * The operator's proposals for the validator set: lost at a restart, and never removed automatically
 * (ibft2.md#which-vote-a-block-carries).
 */
export interface VoteProposals {
  /**
   * Replaces an earlier proposal for the same address. False when there are PROPOSALS_LIMIT others already. Only a forced one
   * is cast where it removes the last validator, as which this node may be left long after it was told to vote.
   */
  propose(vote: ValidatorVote, force?: "forced"): boolean;
  discard(recipient: Address): void;
  pending(): readonly ValidatorVote[];
  /** The vote for the block that `self` builds next; cycles through the proposals that still change something. */
  take(tally: VoteTally, self: Address): ValidatorVote | undefined;
}

/** More than an operator proposes by hand. */
const PROPOSALS_LIMIT = 1000;

export function createVoteProposals(): VoteProposals {
  const byRecipient = new Map<string, { readonly vote: ValidatorVote; readonly isForced: boolean }>();
  let blocksBuilt = 0;
  return {
    propose(vote, force) {
      const key = toKey(vote.recipient);
      if (byRecipient.size >= PROPOSALS_LIMIT && !byRecipient.has(key)) return false;
      byRecipient.set(key, { vote, isForced: force === "forced" });
      return true;
    },
    discard: (recipient) => void byRecipient.delete(toKey(recipient)),
    pending: () => [...byRecipient.values()].map(({ vote }) => vote),
    take(tally, self) {
      blocksBuilt += 1;
      const allowed = [...byRecipient.values()].filter(
        ({ vote, isForced }) => isForced || !isOnLastValidator(tally.validators, vote),
      );
      return chooseVote(
        tally,
        self,
        allowed.map(({ vote }) => vote),
        blocksBuilt,
      );
    },
  };
}
