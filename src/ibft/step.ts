import { assert, assertNever, present } from "../primitives/assert.ts";
import { equalBytes } from "../primitives/hex.ts";
import { committeeAfter, isProposer } from "./committee.ts";
import { Draft } from "./draft.ts";
import type { Effect } from "./effect.ts";
import type { Head, Input } from "./input.ts";
import type { Authored } from "./message.ts";
import { findMessageFlaw } from "./messageRules.ts";
import {
  beginTurn,
  continueTurn,
  newRound,
  onCandidateBuilt,
  onCandidateChecked,
  onProposal,
  onVote,
  startRound,
} from "./round.ts";
import { askForRound, onRoundChange, onRoundTimeout } from "./roundChange.ts";
import { isSameRound, type RoundId } from "./roundId.ts";
import type { Rules, State } from "./state.ts";
import { isValidator } from "./validatorVotes.ts";

/**
 * IBFT 2.0 as a pure function: what a validator does, decided from what it knows and one thing that happened.
 *
 *   head arrives -> height, round 0 -> proposal -> prepared -> decided -> committed: head arrives -> ...
 *                                   \-> timeout -> round 1 -> ...
 *
 * Invariants, whatever happens in whatever order:
 * - we sign at most one digest per height, round and kind, restarts included: a changed promise is the first effect,
 *   and is durable before any other effect is performed (voteRecord.ts, draft.ts);
 * - rounds never go back within a height, and heights rise with the head only;
 * - a block prepared in one round is what we bring to the next;
 * - everything kept is bounded per height, round and author (inbox.ts).
 *
 * Left to others: whether a block is sound (execution), who the validators are (validatorVotes.ts over the chain),
 * bytes and signatures of what arrives (the wire), messages for heights still to come, relaying, and time itself.
 */
export type Step = (rules: Rules, state: State, nowMs: number, input: Input) => Transition;

export interface Transition {
  readonly state: State;
  /** In the order in which they are to be performed. */
  readonly effects: readonly Effect[];
}

export const step: Step = (rules, state, nowMs, input) => {
  const draft = new Draft(rules, state, nowMs);
  take(draft, input);
  const { record } = draft.state;
  const promised = input.kind === "started" ? input.record : state.record;
  return {
    state: draft.state,
    effects:
      record === undefined || record === promised
        ? draft.effects
        : [{ kind: "recordVote", record }, ...draft.effects],
  };
};

function take(draft: Draft, input: Input): void {
  switch (input.kind) {
    case "started":
      assert(draft.state.head === undefined, "the machine starts once");
      draft.changeState({ head: input.head, record: input.record });
      beginHeight(draft);
      break;
    case "headAdvanced":
      onHeadAdvanced(draft, input.head);
      break;
    case "paused":
      onPaused(draft);
      break;
    case "resumed":
      onResumed(draft);
      break;
    case "message":
      onMessage(draft, input.message);
      break;
    case "blockTimer":
      if (isCurrent(draft, input.id)) continueTurn(draft);
      break;
    case "roundTimer":
      if (isCurrent(draft, input.id)) onRoundTimeout(draft);
      break;
    case "candidateBuilt":
      if (isCurrent(draft, input.id)) onCandidateBuilt(draft, input.candidate);
      break;
    case "candidateChecked":
      if (isCurrent(draft, input.id)) onCandidateChecked(draft, input.digest, input.sound);
      break;
    default:
      assertNever(input);
  }
}

/**
 * Heights rise by commits alone; a head that we have, or that lies below, changes nothing (ibft2.md#heights).
 */
function onHeadAdvanced(draft: Draft, head: Head): void {
  const known = present(draft.state.head, "the head at the start");
  if (head.header.number <= known.header.number) return;
  draft.changeState({ head });
  beginHeight(draft);
}

/**
 * Leads here: the start, a new head, the end of a pause. What we promised for this height before binds us still: we leave
 * a round in which we voted. One that we have but asked for we ask for again, in the same words: the others may be in it,
 * and who came back again and again would else be led ever further from them.
 */
function beginHeight(draft: Draft): void {
  const { rules, nowMs } = draft;
  const { head, record, isPaused } = draft.state;
  draft.changeState({ height: undefined });
  if (head === undefined || isPaused || !isValidator(head.tally, rules.self)) return;
  const committee = committeeAfter(head);
  if (record !== undefined && record.height > committee.height) return;
  const bond = record?.height === committee.height ? record : undefined;
  draft.changeState({
    height: {
      parent: head,
      committee,
      round: newRound(rules, bond?.round ?? 0, nowMs),
      prepared: bond?.prepared,
      inbox: [],
      decision: undefined,
    },
  });
  if (bond === undefined) {
    startRound(draft, 0);
    if (isProposer(committee, 0, rules.self)) beginTurn(draft);
  } else {
    askForRound(draft, bond.digest === undefined ? bond.round : bond.round + 1);
  }
}

/** A block that is decided is committed all the same: it may rest on our seal. */
function onPaused(draft: Draft): void {
  const { height } = draft.state;
  draft.changeState({ isPaused: true, height: height?.decision === undefined ? undefined : height });
}

function onResumed(draft: Draft): void {
  if (!draft.state.isPaused) return;
  draft.changeState({ isPaused: false });
  if (draft.state.height === undefined) beginHeight(draft);
}

/** Messages of other heights, and our own that come back to us, are of no use. */
function onMessage(draft: Draft, message: Authored): void {
  const { height } = draft.state;
  if (height === undefined || height.decision !== undefined) return;
  if (message.signed.payload.height !== height.committee.height) return;
  if (equalBytes(message.signed.author, draft.rules.self)) return;
  const flaw = findMessageFlaw(height.committee, draft.rules.withRound, message);
  if (flaw !== undefined) draft.emit({ kind: "rejectMessage", message, flaw });
  else if (message.kind === "proposal") onProposal(draft, message);
  else if (message.kind === "roundChange") onRoundChange(draft, message);
  else onVote(draft, message);
}

function isCurrent({ state }: Draft, id: RoundId): boolean {
  const { height } = state;
  if (height === undefined) return false;
  return isSameRound(id, { height: height.committee.height, round: height.round.number });
}
