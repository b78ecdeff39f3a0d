import { chooseVote, type VoteTally } from "../ibft/validatorVotes.ts";
import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import { isOnLastValidator, type ValidatorVote } from "../types/extraData.ts";

/** Maximum number of proposals: more than an operator makes by hand. */
const PROPOSALS_LIMIT = 1000;

/**
 * The operator's proposals for the validator set: a restart forgets them, and nothing else removes them automatically
 * (ibft2.md#which-vote-a-block-carries).
 */
export class VoteProposals {
  private readonly byRecipient = new Map<
    string,
    { readonly vote: ValidatorVote; readonly isForced: boolean }
  >();
  private blocksBuilt = 0;

  /**
   * Adds a proposal, replacing an earlier one for the same address. Returns false when there are PROPOSALS_LIMIT others
   * already. Only a forced one is cast when it removes the last validator, which this node may become long after the
   * operator proposed the vote.
   */
  propose(vote: ValidatorVote, force?: "forced"): boolean {
    const key = toKey(vote.recipient);
    if (this.byRecipient.size >= PROPOSALS_LIMIT && !this.byRecipient.has(key)) return false;
    this.byRecipient.set(key, { vote, isForced: force === "forced" });
    return true;
  }

  discard(recipient: Address): void {
    void this.byRecipient.delete(toKey(recipient));
  }

  pending(): readonly ValidatorVote[] {
    return [...this.byRecipient.values()].map(({ vote }) => vote);
  }

  /** The vote for the block that `self` builds next; cycles through the proposals that still change something. */
  take(tally: VoteTally, self: Address): ValidatorVote | undefined {
    this.blocksBuilt += 1;
    const allowed = [...this.byRecipient.values()].filter(
      ({ vote, isForced }) => isForced || !isOnLastValidator(tally.validators, vote),
    );
    return chooseVote(
      tally,
      self,
      allowed.map(({ vote }) => vote),
      this.blocksBuilt,
    );
  }
}
