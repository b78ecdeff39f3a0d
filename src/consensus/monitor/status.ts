import type { Doubt } from "../../ibft/lastSigned.ts";
import { commitsFor, preparesFor, roundChangesIn } from "../../ibft/messageSet.ts";
import { type Height, isPrepared, type Rules, type State } from "../../ibft/state.ts";
import { proposerAt, quorum } from "../../ibft/validatorSet.ts";
import { isValidator, type OutstandingVotes } from "../../ibft/validatorVotes.ts";
import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import { equalBytes } from "../../primitives/hex.ts";
import type { NamedHeader } from "../../types/block.ts";
import { decodeExtraData } from "../../types/extraData.ts";
import type { Member } from "./liveness.ts";

/** The state of consensus for an operator: mode, round, timers, votes, and the validators that are missing. */
export interface ConsensusStatus {
  readonly mode: ConsensusMode;
  /** Validators of `height`, sorted. */
  readonly validators: readonly Address[];
  /** The height being decided: head + 1. Undefined before the start. */
  readonly height: bigint | undefined;
  /** Undefined while we only follow. */
  readonly round: RoundStatus | undefined;
  /** Set while we are silent because our key may have signed what our record lacks. */
  readonly silence: Doubt | undefined;
  /** Why we are paused, for the operator; undefined while we are not, or when it is not known. */
  readonly pauseCause: string | undefined;
  /** Our address, whether or not it is a validator's. */
  readonly self: Address;
  readonly isValidator: boolean;
  /** Number of validators that must agree. */
  readonly quorum: number;
  /** The validators, with their liveness as seen by this node. */
  readonly members: readonly MemberStatus[];
  /** The newest block. Undefined before the start. */
  readonly head: HeadStatus | undefined;
  readonly votes: VotesStatus;
}

export interface ObservedMember extends Member {
  /** Milliseconds by which its clock seemed to be ahead at each of its last proposals (clockSkew.ts). */
  readonly clockAheadMs: readonly number[];
}

export interface MemberStatus extends ObservedMember {
  /** Number of connections to the node with that key; undefined when unknown. */
  readonly connections: number | undefined;
}

interface HeadStatus {
  readonly number: bigint;
  readonly hash: Hash;
  readonly proposer: Address;
  /** The round in which it was decided. */
  readonly round: number | undefined;
  /** Seconds. */
  readonly timestamp: bigint;
}

/** Votes on the validator set that are in blocks and have no majority yet. */
interface VotesStatus {
  readonly outstanding: readonly OutstandingVotes[];
  /** Number of votes that make a majority. */
  readonly needed: number;
  /** The next epoch block, which discards votes without a majority. Undefined before the start. */
  readonly expireAt: bigint | undefined;
}

/**
 * `validating`: we propose and vote; `following`: our key is not a validator's; `paused`: for the reason in `pauseCause`;
 * `bound`: we voted at a later height than the chain has, so we wait until it gets there; `silent`: our key may have signed
 * what our record lacks; `failed`: stopped by an error.
 */
type ConsensusMode = "notStarted" | "validating" | "following" | "paused" | "bound" | "silent" | "failed";

export interface RoundStatus {
  readonly number: number;
  readonly proposer: Address;
  readonly startedAtMs: number;
  readonly timeoutAtMs: number;
  readonly phase:
    | "waiting"
    | "building"
    | "validating"
    | "signing"
    | "refused"
    | "accepted"
    | "prepared"
    | "decided";
  /** Authors of Prepares and Commits for the proposal that we accepted. */
  readonly prepares: readonly Address[];
  readonly commits: readonly Address[];
  /** Requests for rounds, ours included. */
  readonly roundChanges: readonly { readonly author: Address; readonly round: number }[];
}

/** Inputs of the status besides the state machine's state. */
interface StatusParts {
  readonly rules: Pick<Rules, "self" | "schedule">;
  readonly isFailed: boolean;
  readonly members: readonly ObservedMember[];
  /** Addresses of the connected nodes; undefined when unknown. */
  readonly connected: readonly Address[] | undefined;
  readonly pauseCause?: (() => string) | undefined;
}

export function describeStatus(state: State, parts: StatusParts): ConsensusStatus {
  const { head, height } = state;
  const { rules, isFailed, members, connected, pauseCause } = parts;
  const validators = head?.tally.validators ?? [];
  const next = head === undefined ? undefined : head.header.number + 1n;
  return {
    mode: isFailed ? "failed" : modeOf(state, rules.self),
    validators,
    height: next,
    round: height === undefined ? undefined : describeRound(height),
    silence: state.lastSigned?.doubt,
    pauseCause: state.isPaused ? pauseCause?.() : undefined,
    self: rules.self,
    isValidator: head !== undefined && isValidator(head.tally, rules.self),
    quorum: quorum(validators.length),
    members: members.map((member) => ({
      ...member,
      connections: connected?.filter((address) => equalBytes(address, member.address)).length,
    })),
    head: head && describeHead(head),
    votes: {
      outstanding: head?.tally.outstanding ?? [],
      needed: Math.floor(validators.length / 2) + 1,
      expireAt: next && epochBlockFrom(rules.schedule.epochLength, next),
    },
  };
}

function describeHead({ header, hash }: NamedHeader): HeadStatus {
  const { number, coinbase: proposer, timestamp } = header;
  const extra = decodeExtraData(header.extraData);
  return { number, hash, proposer, round: extra.ok ? extra.value.round : undefined, timestamp };
}

/** The first epoch block that is not below `number`. */
export function epochBlockFrom(epochLength: bigint, number: bigint): bigint {
  return ((number + epochLength - 1n) / epochLength) * epochLength;
}

function modeOf({ head, height, lastSigned, isPaused }: State, self: Address): ConsensusMode {
  // Before a start, too: a chain that is made for development has none.
  if (isPaused) return "paused";
  if (head === undefined) return "notStarted";
  if (height !== undefined) return "validating";
  if (!isValidator(head.tally, self)) return "following";
  return lastSigned?.doubt === undefined ? "bound" : "silent";
}

function describeRound(height: Height): RoundStatus {
  const { validatorSet, round, messages } = height;
  const { validation } = round;
  const digest = validation?.result === "accepted" ? validation.proposal.candidate.digest : undefined;
  return {
    number: round.number,
    proposer: proposerAt(validatorSet, round.number),
    startedAtMs: round.startedAtMs,
    timeoutAtMs: round.timeoutAtMs,
    phase: phaseOf(height),
    prepares: digest === undefined ? [] : preparesFor(messages, round.number, digest).map(authorOf),
    commits: digest === undefined ? [] : commitsFor(messages, round.number, digest).map(authorOf),
    roundChanges: roundChangesIn(messages).map(({ signed }) => ({
      author: signed.author,
      round: signed.payload.round,
    })),
  };
}

function phaseOf(height: Height): RoundStatus["phase"] {
  if (height.decision !== undefined) return "decided";
  if (isPrepared(height)) return "prepared";
  const { validation, duty } = height.round;
  if (validation?.result === "sound") return "signing";
  if (validation !== undefined) return validation.result === "pending" ? "validating" : validation.result;
  return duty === undefined || duty.building === "notYet" ? "waiting" : "building";
}

function authorOf({ signed }: { readonly signed: { readonly author: Address } }): Address {
  return signed.author;
}
