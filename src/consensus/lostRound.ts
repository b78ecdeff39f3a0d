import type { Input } from "../ibft/input.ts";
import { proposerOf } from "../ibft/proposer.ts";
import { type Height, isPrepared, type State } from "../ibft/state.ts";
import type { Facts } from "../logging/logger.ts";
import type { Address } from "../primitives/address.ts";
import { equalBytes, toHex } from "../primitives/hex.ts";

/** A round that came to nothing, as the operator reads of it: why it ended, whose turn it was, who voted, who did not. */
export interface LostRound {
  readonly facts: Facts;
  readonly message: string;
  readonly nextRound: number;
  /** Whose turn passed without a proposal. */
  readonly missed: Address | undefined;
}

/** Undefined when the step did not lead from one round of a height to a later one. */
export function describeLostRound(
  self: Address,
  { before, after, by }: { readonly before: State; readonly after: State; readonly by: Input },
): LostRound | undefined {
  const was = before.height;
  const is = after.height;
  if (was === undefined || is === undefined || was.parent !== is.parent) return undefined;
  const { number, startedAtMs } = was.round;
  if (is.round.number <= number) return undefined;
  const { committee } = was;
  const proposer = proposerFor(was, number);
  const { trial } = was.round;
  const voters = votersIn(was);
  const hasVoted = (address: Address) => voters.some((voter) => equalBytes(voter, address));
  const isOurs = equalBytes(proposer, self);
  return {
    facts: {
      height: committee.height,
      round: number,
      proposer,
      nextRound: is.round.number,
      nextProposer: proposerFor(is, is.round.number),
      quorum: committee.quorum,
      // Without a proposal nobody can vote, and silence tells nothing.
      ...(trial !== undefined && {
        voted: voters,
        silent: committee.validators.filter((address) => !hasVoted(address)),
      }),
    },
    message:
      `round ${number} of height ${committee.height} is lost, ` +
      `${by.kind === "message" ? "others went on" : `its ${seconds(is.round.startedAtMs - startedAtMs)} are over`}: ` +
      `${isOurs ? "it was our turn" : `it was the turn of ${toHex(proposer)}`}, ${outcomeOf(was, { votes: voters.length, isOurs })}`,
    nextRound: is.round.number,
    missed: trial === undefined && !isOurs ? proposer : undefined,
  };
}

function outcomeOf(
  height: Height,
  { votes, isOurs }: { readonly votes: number; readonly isOurs: boolean },
): string {
  const { trial } = height.round;
  const { quorum } = height.committee;
  if (trial === undefined) return isOurs ? "and no block of ours was ready" : "and no proposal came";
  switch (trial.verdict) {
    case "pending":
      return "and its proposal was still being checked";
    case "refused":
      return "and its proposal was unsound";
    case "accepted":
      return isPrepared(height)
        ? `its proposal was prepared, but not sealed by ${quorum}`
        : `and ${votes} of the ${quorum} needed stood behind its proposal`;
  }
}

/** The proposer, whose proposal is a vote, and whoever voted in the round; we ourselves when we accepted. */
function votersIn({ inbox, round, committee }: Height): readonly Address[] {
  const proposer = round.trial?.proposal.signed.author;
  const authors = inbox
    .filter(({ kind, signed }) => kind !== "roundChange" && signed.payload.round === round.number)
    .map(({ signed }) => signed.author);
  const voters = proposer === undefined ? authors : [proposer, ...authors];
  return committee.validators.filter((address) => voters.some((voter) => equalBytes(voter, address)));
}

function proposerFor({ committee }: Height, round: number): Address {
  return proposerOf(committee.validators, committee.previousProposer, round);
}

function seconds(durationMs: number): string {
  return `${Math.round(durationMs / 100) / 10} s`;
}
