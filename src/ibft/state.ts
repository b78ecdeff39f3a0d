import type { IbftSchedule } from "../chainspec/ibftParameters.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Signature } from "../primitives/secp256k1.ts";
import type { Digest } from "../types/blockHash.ts";
import type { Candidate } from "./candidate.ts";
import type { LastSignedState } from "./lastSigned.ts";
import type { PreparedBlock, Proposal, RoundChangeCertificate, RoundId, SignedMessage } from "./message.ts";
import type { MessageErrorCode } from "./messageRules.ts";
import type { MessageSet } from "./messageSet.ts";
import type { Head, ValidatorSet } from "./validatorSet.ts";

/** What is fixed while the node runs: parameters, and two deterministic functions. */
export interface Rules {
  /** Address of our key. */
  readonly self: Address;
  readonly schedule: IbftSchedule;
  /**
   * Absent when our key is in another process: signatures are then requested by an effect and return as an input
   * (ibft2.md#remote-signer).
   */
  readonly sign?: ((digest: Hash) => Signature) | undefined;
  withRound(candidate: Candidate, round: number): Candidate;
}

/** Rules with our key. */
export interface OwnKeyRules extends Rules {
  sign(digest: Hash): Signature;
}

/** The whole state, as plain data: it can be printed, compared, saved and replayed. */
export interface State {
  /** Undefined only before `started`. */
  readonly head: Head | undefined;
  /** What we signed last, at whatever height. */
  readonly lastSigned: LastSignedState | undefined;
  readonly startedAtMs: number;
  /** True while the chain is at genesis since a start without a record (lostVotes.ts). */
  readonly isNewborn: boolean;
  readonly isPaused: boolean;
  /** Undefined while we only follow: not a validator, paused, in doubt, or bound by a vote signed for a later height. */
  readonly height: Height | undefined;
}

export const UNSTARTED: State = {
  head: undefined,
  lastSigned: undefined,
  startedAtMs: 0,
  isNewborn: false,
  isPaused: false,
  height: undefined,
};

/** The height being decided. */
export interface Height {
  readonly parent: Head;
  readonly validatorSet: ValidatorSet;
  readonly round: Round;
  /** The block prepared last at this height, in any round. */
  readonly prepared: PreparedBlock | undefined;
  readonly messages: MessageSet;
  /** The block that a quorum has sealed. No other block can be decided at this height, so we send nothing more. */
  readonly decision: Decision | undefined;
}

interface Decision {
  readonly candidate: Candidate;
  readonly seals: readonly Signature[];
}

/** The round in progress. */
export interface Round {
  readonly number: number;
  readonly startedAtMs: number;
  readonly timeoutAtMs: number;
  /** Set while we have to propose a new block of our own. */
  readonly duty: ProposerDuty | undefined;
  /** The only proposal that we consider in this round. */
  readonly validation: ProposalValidation | undefined;
  /** What a remote signer has signed in this round. */
  readonly signatures?: readonly OwnSignature[];
}

/** A signature by our key, that a remote signer has made. */
export interface OwnSignature {
  readonly digest: Hash;
  readonly signature: Signature;
}

interface ProposerDuty {
  /** Absent in round 0. Fixed when the duty begins, so that a prepared certificate that arrives later cannot get in. */
  readonly certificate: RoundChangeCertificate | undefined;
  readonly building: "notYet" | "asked" | Candidate;
}

export interface ProposalValidation {
  readonly proposal: Proposal;
  /** `sound` means valid, with our own signatures still awaited. */
  readonly result: "pending" | "sound" | "accepted" | "refused";
}

export function isPrepared({ prepared, round }: Height): boolean {
  return prepared?.candidate.extra.round === round.number;
}

/** All inputs of the state machine. A result or timer names its round; it is ignored when we have left that round. */
export type Input =
  /** The node starts, with what we signed before the restart, and whether a block above that has a seal of ours. */
  | {
      readonly kind: "started";
      readonly head: Head;
      readonly record?: LastSignedState;
      readonly isSealedAbove?: boolean;
    }
  /** A decoded message, signers already recovered. */
  | { readonly kind: "message"; readonly message: SignedMessage }
  | { readonly kind: "blockTimer" | "roundTimer"; readonly id: RoundId }
  | { readonly kind: "candidateBuilt"; readonly id: RoundId; readonly candidate: Candidate }
  | {
      readonly kind: "candidateChecked";
      readonly id: RoundId;
      readonly digest: Digest;
      readonly sound: boolean;
    }
  /** A remote signer's answer to requestSignature. */
  | ({ readonly kind: "signed"; readonly id: RoundId } & OwnSignature)
  /** The chain has a new head, through our own commit or through sync. */
  | { readonly kind: "headAdvanced"; readonly head: Head; readonly ownSeal?: OwnSeal }
  /** Another node with our key says that it takes part, and we must not (consensus/sharedKey/rules.ts). */
  | { readonly kind: "ownKeyClaimed" }
  /** The operator pauses us, so that we neither propose nor vote, or resumes us. */
  | { readonly kind: "paused" | "resumed" };

/** A block with a commit seal of our key. */
export interface OwnSeal {
  readonly number: bigint;
  /** Seconds. */
  readonly timestamp: bigint;
}

/** All effects of the state machine, to be performed in order. Timers are never cancelled; late ones are ignored. */
export type Effect =
  /** Must be durable before any later effect is performed. */
  | { readonly kind: "recordVote"; readonly record: LastSignedState }
  /** Sends a message to every other validator; our own message set has it already. */
  | { readonly kind: "multicast"; readonly message: SignedMessage }
  | { readonly kind: "setBlockTimer" | "setRoundTimer"; readonly id: RoundId; readonly atMs: number }
  /** Returns as signed; emitted again, whenever a step needs it, until then. `digest` is keccak256 of `preimage`. */
  | {
      readonly kind: "requestSignature";
      readonly id: RoundId;
      readonly digest: Hash;
      readonly preimage: Uint8Array;
    }
  /** Returns as candidateBuilt; does not return when building fails. */
  | { readonly kind: "buildCandidate"; readonly id: RoundId; readonly timestamp: bigint }
  /** Returns as candidateChecked. */
  | { readonly kind: "checkCandidate"; readonly id: RoundId; readonly candidate: Candidate }
  /** Returns as headAdvanced; emitted again at each round timeout until then. */
  | { readonly kind: "commitBlock"; readonly candidate: Candidate; readonly seals: readonly Signature[] }
  | { readonly kind: "rejectMessage"; readonly message: SignedMessage; readonly error: MessageErrorCode }
  | { readonly kind: "reportEquivocation"; readonly first: SignedMessage; readonly second: SignedMessage };
