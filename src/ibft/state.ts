import type { IbftSchedule } from "../chainspec/ibftParameters.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Signature } from "../primitives/secp256k1.ts";
import type { Candidate } from "./candidate.ts";
import type { Head } from "./input.ts";
import type { LastSignedState } from "./lastSigned.ts";
import type { PreparedBlock, Proposal, RoundChangeCertificate } from "./message.ts";
import type { MessageSet } from "./messageSet.ts";
import type { ValidatorSet } from "./validatorSet.ts";

/** What never changes while the node runs: parameters, and two deterministic functions. */
export interface Rules {
  /** Address of our key. */
  readonly self: Address;
  readonly schedule: IbftSchedule;
  /** How long before a block of ours may leave its building begins; 0 lets it begin when it may leave. */
  readonly buildAheadMs: number;
  sign(digest: Hash): Signature;
  withRound(candidate: Candidate, round: number): Candidate;
}

/** All that the machine knows, as plain data: it can be printed, compared, saved and replayed. */
export interface State {
  /** Undefined only before `started`. */
  readonly head: Head | undefined;
  /** Our last promise, whatever its height. */
  readonly lastSigned: LastSignedState | undefined;
  readonly isPaused: boolean;
  /** Undefined while we only follow: no validator, paused, or bound by a promise made for a later height. */
  readonly height: Height | undefined;
}

export const UNSTARTED: State = {
  head: undefined,
  lastSigned: undefined,
  isPaused: false,
  height: undefined,
};

/** The height being decided. */
export interface Height {
  readonly parent: Head;
  readonly validatorSet: ValidatorSet;
  readonly round: Round;
  /** The block prepared last in this height, in whatever round that was. */
  readonly prepared: PreparedBlock | undefined;
  readonly messages: MessageSet;
  /** A quorum has sealed this block: nothing else can become of the height, so we say no more in it. */
  readonly decision: Decision | undefined;
}

export interface Decision {
  readonly candidate: Candidate;
  readonly seals: readonly Signature[];
}

/** The round in progress. */
export interface Round {
  readonly number: number;
  readonly startedAtMs: number;
  readonly timeoutAtMs: number;
  /** We are to propose a block of our own making. */
  readonly duty: ProposerDuty | undefined;
  /** The one proposal that we consider in this round. */
  readonly validation: ProposalValidation | undefined;
}

export interface ProposerDuty {
  /** Absent in round 0. Fixed when the turn begins: a prepared certificate that comes later must not slip in. */
  readonly certificate: RoundChangeCertificate | undefined;
  readonly building: "notYet" | "asked" | Candidate;
}

export interface ProposalValidation {
  readonly proposal: Proposal;
  readonly result: "pending" | "accepted" | "refused";
}

export function isPrepared({ prepared, round }: Height): boolean {
  return prepared?.candidate.extra.round === round.number;
}
