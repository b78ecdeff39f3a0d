import {
  type Height,
  type Input,
  isPrepared,
  type ProposalValidation,
  type State,
} from "../../ibft/state.ts";
import { proposerAt } from "../../ibft/validatorSet.ts";
import type { LogFields } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import { equalBytes, includesBytes, toHex } from "../../primitives/hex.ts";

/** A failed round, described for the operator: why it ended, its proposer, who voted, and who did not. */
interface FailedRound {
  readonly fields: LogFields;
  readonly message: string;
  readonly height: bigint;
  readonly nextRound: number;
  /** The proposer, if it is another validator and no proposal came. */
  readonly absentProposer: Address | undefined;
}

/**
 * Describes a failed round; undefined when the step did not move from one round of a height to a later one. Without a
 * proposal no validator can vote: the description then only lists which validators were heard.
 */
export function describeFailedRound(
  { self, isHeard }: { readonly self: Address; isHeard(address: Address): boolean },
  { before, after, by }: { readonly before: State; readonly after: State; readonly by: Input },
): FailedRound | undefined {
  const failed = before.height;
  const next = after.height;
  if (failed === undefined || next === undefined || failed.parent !== next.parent) return undefined;
  const { number, startedAtMs, validation } = failed.round;
  if (next.round.number <= number) return undefined;
  const { validatorSet } = failed;
  const proposer = proposerFor(failed, number);
  const isOurs = equalBytes(proposer, self);
  const votes = votesIn(failed);
  const unheard = validatorSet.validators.filter((address) => !isHeard(address));
  return {
    fields: {
      height: validatorSet.height,
      round: number,
      proposer,
      nextRound: next.round.number,
      nextProposer: proposerFor(next, next.round.number),
      quorum: validatorSet.quorum,
      ...(validation === undefined ? { unheard } : { voted: votes.voted, silent: votes.silent }),
    },
    message:
      `round ${number} of height ${validatorSet.height} failed, ` +
      `${by.kind === "message" ? "others moved on" : `its ${seconds(next.round.startedAtMs - startedAtMs)} are over`}: ` +
      `the proposer was ${isOurs ? "this node" : toHex(proposer)}, and ` +
      (validation === undefined
        ? `${isOurs ? "its block was not ready" : "no proposal came"}, so there were no votes; ${describeHeard(self, unheard)}`
        : `its proposal ${describeResult(failed, validation, votes)}; ${describeVotes(self, failed, votes)}`),
    height: validatorSet.height,
    nextRound: next.round.number,
    absentProposer: validation === undefined && !isOurs ? proposer : undefined,
  };
}

interface Votes {
  /** The proposer, whose proposal is a vote, and the validators that prepared or sealed; this one when it accepted. */
  readonly voted: readonly Address[];
  readonly sealed: readonly Address[];
  readonly silent: readonly Address[];
}

function votesIn({ messages, round, validatorSet }: Height): Votes {
  const proposer = round.validation?.proposal.signed.author;
  const ofRound = messages.filter(
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

function describeResult(height: Height, { result }: ProposalValidation, { voted, sealed }: Votes): string {
  const { quorum } = height.validatorSet;
  switch (result) {
    case "pending":
      return "was still being validated";
    case "refused":
      return "was invalid";
    case "sound":
      return "was valid, but the remote signer had not signed our vote";
    case "accepted":
      return isPrepared(height)
        ? `was prepared, but sealed by ${sealed.length} of the ${quorum} needed`
        : `had ${voted.length} of the ${quorum} votes needed`;
  }
}

function describeVotes(self: Address, height: Height, { voted, sealed, silent }: Votes): string {
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

function describeHeard(self: Address, unheard: readonly Address[]): string {
  return unheard.length === 0
    ? "all validators were heard recently"
    : `not heard recently: ${namesOf(self, unheard)}`;
}

function namesOf(self: Address, addresses: readonly Address[]): string {
  if (addresses.length === 0) return "none";
  const names = addresses
    .slice(0, NAMES_LIMIT)
    .map((address) => (equalBytes(address, self) ? "this node" : toHex(address)));
  const more = addresses.length - names.length;
  return names.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Most names in the sentence; the fields of the line have all. */
const NAMES_LIMIT = 20;

function proposerFor({ validatorSet }: Height, round: number): Address {
  return proposerAt(validatorSet, round);
}

function seconds(durationMs: number): string {
  return `${Math.round(durationMs / 100) / 10} s`;
}
