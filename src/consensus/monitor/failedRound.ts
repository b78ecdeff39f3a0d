import type { Input } from "../../ibft/input.ts";
import { proposerOf } from "../../ibft/proposer.ts";
import { type Height, isPrepared, type ProposalValidation, type State } from "../../ibft/state.ts";
import type { Facts } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import { equalBytes, includesBytes, toHex } from "../../primitives/hex.ts";

/** A round that came to nothing, as the operator reads of it: why it ended, whose turn it was, who voted, who did not. */
export interface FailedRound {
  readonly facts: Facts;
  readonly message: string;
  readonly height: bigint;
  readonly nextRound: number;
  /** Whose turn passed without a proposal. */
  readonly missed: Address | undefined;
}

/**
 * Undefined when the step did not lead from one round of a height to a later one. Without a proposal nobody can vote:
 * then all that can be told of the others is whether they were heard.
 */
export function describeFailedRound(
  { self, isHeard }: { readonly self: Address; isHeard(address: Address): boolean },
  { before, after, by }: { readonly before: State; readonly after: State; readonly by: Input },
): FailedRound | undefined {
  const was = before.height;
  const is = after.height;
  if (was === undefined || is === undefined || was.parent !== is.parent) return undefined;
  const { number, startedAtMs, validation } = was.round;
  if (is.round.number <= number) return undefined;
  const { validatorSet } = was;
  const proposer = proposerFor(was, number);
  const isOurs = equalBytes(proposer, self);
  const votes = votesIn(was);
  const unheard = validatorSet.validators.filter((address) => !isHeard(address));
  return {
    facts: {
      height: validatorSet.height,
      round: number,
      proposer,
      nextRound: is.round.number,
      nextProposer: proposerFor(is, is.round.number),
      quorum: validatorSet.quorum,
      ...(validation === undefined ? { unheard } : { voted: votes.voted, silent: votes.silent }),
    },
    message:
      `round ${number} of height ${validatorSet.height} is lost, ` +
      `${by.kind === "message" ? "others went on" : `its ${seconds(is.round.startedAtMs - startedAtMs)} are over`}: ` +
      `${isOurs ? "it was our turn" : `it was the turn of ${toHex(proposer)}`}, and ` +
      (validation === undefined
        ? `${isOurs ? "no block of ours was ready" : "no proposal came"}, so that nobody could vote; ${hearing(self, unheard)}`
        : `${isOurs ? "our" : "its"} proposal ${outcomeOf(was, validation, votes)}; ${voting(self, was, votes)}`),
    height: validatorSet.height,
    nextRound: is.round.number,
    missed: validation === undefined && !isOurs ? proposer : undefined,
  };
}

interface Votes {
  /** The proposer, whose proposal is a vote, and whoever prepared or sealed; we ourselves when we accepted. */
  readonly voted: readonly Address[];
  readonly sealed: readonly Address[];
  readonly silent: readonly Address[];
}

function votesIn({ messages: inbox, round, validatorSet }: Height): Votes {
  const proposer = round.validation?.proposal.signed.author;
  const ofRound = inbox.filter(
    ({ kind, signed }) => kind !== "roundChange" && signed.payload.round === round.number,
  );
  const authors = ofRound.map(({ signed }) => signed.author);
  const sealers = ofRound.filter(({ kind }) => kind === "commit").map(({ signed }) => signed.author);
  const membersIn = (list: readonly Address[]) =>
    validatorSet.validators.filter((address) => includesBytes(list, address));
  const voted = membersIn(proposer === undefined ? authors : [proposer, ...authors]);
  return {
    voted,
    sealed: membersIn(sealers),
    silent: validatorSet.validators.filter((address) => !voted.includes(address)),
  };
}

function outcomeOf(
  height: Height,
  { result: verdict }: ProposalValidation,
  { voted, sealed }: Votes,
): string {
  const { quorum } = height.validatorSet;
  switch (verdict) {
    case "pending":
      return "was still being checked";
    case "refused":
      return "was unsound";
    case "accepted":
      return isPrepared(height)
        ? `was prepared, but sealed by ${sealed.length} of the ${quorum} needed`
        : `had ${voted.length} of the ${quorum} votes needed`;
  }
}

function voting(self: Address, height: Height, { voted, sealed, silent }: Votes): string {
  const preparers = voted.filter((address) => !sealed.includes(address));
  const groups: readonly (readonly [string, readonly Address[]])[] = isPrepared(height)
    ? [
        ["sealed", sealed],
        ["prepared only", preparers],
        ["silent", silent],
      ]
    : [
        ["voted", voted],
        ["silent", silent],
      ];
  return groups.map(([name, members]) => `${name}: ${namesOf(self, members)}`).join("; ");
}

function hearing(self: Address, unheard: readonly Address[]): string {
  return unheard.length === 0
    ? "all validators were heard lately"
    : `not heard lately: ${namesOf(self, unheard)}`;
}

function namesOf(self: Address, addresses: readonly Address[]): string {
  if (addresses.length === 0) return "nobody";
  const names = addresses
    .slice(0, NAMES_LIMIT)
    .map((address) => (equalBytes(address, self) ? "this node" : toHex(address)));
  const more = addresses.length - names.length;
  return names.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** The facts beside the sentence name all. */
const NAMES_LIMIT = 20;

function proposerFor({ validatorSet }: Height, round: number): Address {
  return proposerOf(validatorSet.validators, validatorSet.previousProposer, round);
}

function seconds(durationMs: number): string {
  return `${Math.round(durationMs / 100) / 10} s`;
}
