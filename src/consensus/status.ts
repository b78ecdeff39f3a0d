import { commitsFor, preparesFor, roundChangesIn } from "../ibft/inbox.ts";
import { proposerOf } from "../ibft/proposer.ts";
import { type Height, isPrepared, type State } from "../ibft/state.ts";
import { isValidator } from "../ibft/validatorVotes.ts";
import type { Address } from "../primitives/address.ts";

/** What an operator asks of consensus: what are we doing, in which round are we, since when, and who is missing. */
export interface ConsensusStatus {
  readonly mode: ConsensusMode;
  /** Validators of the height in question, sorted. */
  readonly validators: readonly Address[];
  /** The height being decided: head + 1. Undefined before the start. */
  readonly height: bigint | undefined;
  /** Undefined while we only follow. */
  readonly round: RoundStatus | undefined;
}

/**
 * `validating`: we propose and vote; `following`: our key is not a validator's; `paused`: by the operator; `bound`: we
 * voted at a later height than the chain has, so we wait until it is there; `failed`: stopped by an error.
 */
export type ConsensusMode = "notStarted" | "validating" | "following" | "paused" | "bound" | "failed";

export interface RoundStatus {
  readonly number: number;
  readonly proposer: Address;
  readonly startedAtMs: number;
  readonly timeoutAtMs: number;
  readonly phase: "waiting" | "building" | "onTrial" | "refused" | "accepted" | "prepared" | "decided";
  /** Who prepared and who committed the proposal that we accepted. */
  readonly prepares: readonly Address[];
  readonly commits: readonly Address[];
  /** Who asked for which round, ours included. */
  readonly roundChanges: readonly { readonly author: Address; readonly round: number }[];
}

export function describeStatus(state: State, self: Address, isFailed: boolean): ConsensusStatus {
  const { head, height } = state;
  return {
    mode: isFailed ? "failed" : modeOf(state, self),
    validators: head?.tally.validators ?? [],
    height: head === undefined ? undefined : head.header.number + 1n,
    round: height === undefined ? undefined : describeRound(height),
  };
}

function modeOf({ head, height, isPaused }: State, self: Address): ConsensusMode {
  if (head === undefined) return "notStarted";
  if (isPaused) return "paused";
  if (height !== undefined) return "validating";
  return isValidator(head.tally, self) ? "bound" : "following";
}

function describeRound(height: Height): RoundStatus {
  const { committee, round, inbox } = height;
  const { trial } = round;
  const digest = trial?.verdict === "accepted" ? trial.proposal.candidate.digest : undefined;
  return {
    number: round.number,
    proposer: proposerOf(committee.validators, committee.previousProposer, round.number),
    startedAtMs: round.startedAtMs,
    timeoutAtMs: round.timeoutAtMs,
    phase: phaseOf(height),
    prepares: digest === undefined ? [] : preparesFor(inbox, round.number, digest).map(authorOf),
    commits: digest === undefined ? [] : commitsFor(inbox, round.number, digest).map(authorOf),
    roundChanges: roundChangesIn(inbox).map(({ signed }) => ({
      author: signed.author,
      round: signed.payload.round,
    })),
  };
}

function phaseOf(height: Height): RoundStatus["phase"] {
  if (height.decision !== undefined) return "decided";
  if (isPrepared(height)) return "prepared";
  const { trial, turn } = height.round;
  if (trial !== undefined) return trial.verdict === "pending" ? "onTrial" : trial.verdict;
  return turn === undefined || turn.building === "notYet" ? "waiting" : "building";
}

function authorOf({ signed }: { readonly signed: { readonly author: Address } }): Address {
  return signed.author;
}
