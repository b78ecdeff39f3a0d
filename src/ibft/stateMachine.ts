import { assert, assertNever, expectDefined } from "../primitives/assert.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { LastSignedState } from "./lastSigned.ts";
import { recordAtClaim, recordAtHead, recordAtOwnMessage, stateAtStart } from "./lostVotes.ts";
import type { RoundId, SignedMessage } from "./message.ts";
import { findMessageError } from "./messageRules.ts";
import {
  beginDuty,
  continueDuty,
  newRound,
  onCandidateBuilt,
  onCandidateChecked,
  onProposal,
  onVote,
  startRound,
} from "./round.ts";
import { onRoundChange, onRoundTimeout, onSigned, requestRound } from "./roundChange.ts";
import type { Effect, Input, Rules, State } from "./state.ts";
import { TransitionBuilder } from "./transitionBuilder.ts";
import { isProposer, validatorSetAfter } from "./validatorSet.ts";
import { isValidator } from "./validatorVotes.ts";

/**
 * IBFT 2.0 as a pure function: from a validator's state and one input, the next state and the effects to perform.
 *
 *   head arrives -> height, round 0 -> proposal -> prepared -> decided -> committed: head arrives -> ...
 *                                   \-> timeout -> round 1 -> ...
 *
 * Invariants, whatever happens in whatever order:
 * - we sign at most one digest per height, round and kind, restarts included: a changed last signed state is the first
 *   effect, and is durable before any other effect is performed (lastSigned.ts, transitionBuilder.ts);
 * - rounds never go back within a height, and heights rise with the head only;
 * - the block prepared in one round goes into the RoundChange for the next;
 * - while our key may have signed what our record lacks, we sign nothing (lostVotes.ts);
 * - everything kept is bounded per height, round and author (messageSet.ts).
 *
 * Other parts decide whether a block is valid (execution) and who the validators are (validatorVotes.ts over the chain),
 * decode messages and recover their signers, buffer messages of future heights, relay messages, and run timers.
 */
export type Step = (rules: Rules, state: State, nowMs: number, input: Input) => Transition;

export interface Transition {
  readonly state: State;
  /** The effects, which must be performed in this order. */
  readonly effects: readonly Effect[];
}

export const step: Step = (rules, state, nowMs, input) => {
  const transition = new TransitionBuilder(rules, state, nowMs);
  take(transition, input);
  const { lastSigned } = transition.state;
  const before = input.kind === "started" ? input.record : state.lastSigned;
  return {
    state: transition.state,
    effects:
      lastSigned === undefined || lastSigned === before
        ? transition.effects
        : [{ kind: "recordVote", record: lastSigned }, ...transition.effects],
  };
};

function take(transition: TransitionBuilder, input: Input): void {
  switch (input.kind) {
    case "started":
      assert(transition.state.head === undefined, "the state machine starts once");
      transition.changeState({
        head: input.head,
        startedAtMs: transition.nowMs,
        ...stateAtStart(transition.rules, input, transition.nowMs),
      });
      beginHeight(transition);
      break;
    case "headAdvanced":
      onHeadAdvanced(transition, input);
      break;
    case "paused":
      onPaused(transition);
      break;
    case "resumed":
      onResumed(transition);
      break;
    case "message":
      onMessage(transition, input.message);
      break;
    case "ownKeyClaimed":
      onOwnKeyClaimed(transition);
      break;
    case "blockTimer":
      if (isCurrent(transition, input.id)) continueDuty(transition);
      break;
    case "roundTimer":
      if (isCurrent(transition, input.id)) onRoundTimeout(transition);
      break;
    case "candidateBuilt":
      if (isCurrent(transition, input.id)) onCandidateBuilt(transition, input.candidate);
      break;
    case "candidateChecked":
      if (isCurrent(transition, input.id)) onCandidateChecked(transition, input.digest, input.sound);
      break;
    case "signed":
      if (isCurrent(transition, input.id)) {
        const { digest, signature } = input;
        onSigned(transition, { digest, signature });
      }
      break;
    default:
      assertNever(input);
  }
}

/**
 * Starts the next height. Heights rise by commits alone: the current head, or one below it, changes nothing
 * (ibft2.md#heights).
 */
function onHeadAdvanced(
  transition: TransitionBuilder,
  input: Extract<Input, { kind: "headAdvanced" }>,
): void {
  const { rules, state, nowMs } = transition;
  const { head } = input;
  const known = expectDefined(state.head, "the head at the start");
  if (head.header.number <= known.header.number) return;
  transition.changeState({ head, isNewborn: false, lastSigned: recordAtHead(rules, state, input, nowMs) });
  beginHeight(transition);
}

/**
 * Runs at the start, on a new head, and at the end of a pause. Our earlier signatures at this height still bind us: we leave
 * a round in which we voted. A round that we only requested is requested again with the same bytes: the others may be in it,
 * and a validator that restarts repeatedly would otherwise move further away from them with each restart.
 */
function beginHeight(transition: TransitionBuilder): void {
  const { rules, nowMs } = transition;
  const { head, lastSigned, isPaused } = transition.state;
  transition.changeState({ height: undefined });
  if (head === undefined || isPaused || !isValidator(head.tally, rules.self)) return;
  const validatorSet = validatorSetAfter(head);
  if (lastSigned?.doubt !== undefined) return;
  if (lastSigned !== undefined && lastSigned.height > validatorSet.height) return;
  const signed = lastSigned?.height === validatorSet.height ? lastSigned : undefined;
  transition.changeState({
    height: {
      parent: head,
      validatorSet,
      round: newRound(rules, signed?.round ?? 0, nowMs),
      prepared: signed?.prepared,
      messages: [],
      decision: undefined,
    },
  });
  if (signed === undefined) {
    startRound(transition, 0);
    if (isProposer(validatorSet, 0, rules.self)) beginDuty(transition);
  } else {
    requestRound(transition, signed.digest === undefined ? signed.round : signed.round + 1);
  }
}

/** A decided block is still committed: its quorum may include our seal. */
function onPaused(transition: TransitionBuilder): void {
  const { height } = transition.state;
  transition.changeState({ isPaused: true, height: height?.decision === undefined ? undefined : height });
}

function onResumed(transition: TransitionBuilder): void {
  if (!transition.state.isPaused) return;
  transition.changeState({ isPaused: false });
  if (transition.state.height === undefined) beginHeight(transition);
}

/** Ignores messages of other heights, and messages of our own that others relay back, if we can have sent them. */
function onMessage(transition: TransitionBuilder, message: SignedMessage): void {
  const { rules, state, nowMs } = transition;
  const lastSigned = recordAtOwnMessage(rules, state, message, nowMs);
  if (lastSigned !== state.lastSigned) onDoubt(transition, lastSigned);
  const { height } = transition.state;
  if (height === undefined || height.decision !== undefined) return;
  if (message.signed.payload.height !== height.validatorSet.height) return;
  if (equalBytes(message.signed.author, transition.rules.self)) return;
  const error = findMessageError(height.validatorSet, transition.rules.withRound, message);
  if (error !== undefined) transition.emit({ kind: "rejectMessage", message, error });
  else if (message.kind === "proposal") onProposal(transition, message);
  else if (message.kind === "roundChange") onRoundChange(transition, message);
  else onVote(transition, message);
}

function onOwnKeyClaimed(transition: TransitionBuilder): void {
  const { rules, state, nowMs } = transition;
  const lastSigned = recordAtClaim(rules, state, nowMs);
  if (lastSigned !== state.lastSigned) onDoubt(transition, lastSigned);
}

/** A decided block is still committed: its quorum may include our seal. */
function onDoubt(transition: TransitionBuilder, lastSigned: LastSignedState | undefined): void {
  const { height } = transition.state;
  transition.changeState({ lastSigned, height: height?.decision === undefined ? undefined : height });
}

function isCurrent({ state }: TransitionBuilder, id: RoundId): boolean {
  const { height } = state;
  if (height === undefined) return false;
  return isSameRound(id, { height: height.validatorSet.height, round: height.round.number });
}

function isSameRound(a: RoundId, b: RoundId): boolean {
  return a.height === b.height && a.round === b.round;
}
