import type { Doubt, LastSignedState } from "../../src/ibft/lastSigned.ts";
import { forgottenAt, nothingAbove } from "../../src/ibft/lostVotes.ts";
import { addMessage, findMessage } from "../../src/ibft/messageSet.ts";
import type { Height, Input, State } from "../../src/ibft/state.ts";
import { type Step, step, type Transition } from "../../src/ibft/stateMachine.ts";
import { equalBytes } from "../../src/primitives/hex.ts";
import type { Sabotage } from "./simulatedNode.ts";
import { sealedRoundOf } from "./toyLedger.ts";

const IGNORED_CERTIFICATE_ERRORS: readonly string[] = [
  ...["certificateMissing", "tooFewRoundChanges", "tooFewPrepares", "duplicateAuthors"],
  ...["authorNotValidator", "wrongProposer", "prepareByProposer", "wrongRound", "wrongDigest"],
  "preparedBlockReplaced",
];

/** State machines with one broken rule, made by wrapping the step function; the state machine itself has no switches. */

/** Without a record, it takes part as if its votes had been forgotten on purpose. */
const TAKES_PART_ANYWAY: Step = (rules, state, nowMs, input) =>
  step(
    rules,
    state,
    nowMs,
    input.kind === "started" && input.record === undefined
      ? { ...input, record: forgottenAt(input.head.header.number + 1n) }
      : input,
  );

export const NEEDS_NO_RECORD: Sabotage = { machine: TAKES_PART_ANYWAY };

/** Does not see that blocks above its record have its seal. */
export const OVERLOOKS_OWN_SEALS: Sabotage = { overlooksOwnSeals: true };

/** Silent in the height in which it may have voted by its own chain, but not until blocks are newer than its start. */
export const LOOKS_AT_NO_TIME: Sabotage = {
  machine: doubting((doubt) => ({ ...doubt, untilTimestamp: 0n })),
};

/** Takes part whatever else is signed with its key. */
export const IGNORES_ITS_KEY: Sabotage = {
  overlooksOwnSeals: true,
  listensNever: true,
  machine: (rules, state, nowMs, input) =>
    input.kind === "message" && equalBytes(input.message.signed.author, rules.self)
      ? { state, effects: [] }
      : TAKES_PART_ANYWAY(rules, state, nowMs, input),
};

/** Silent only until the next restart. */
export const FORGETS_DOUBTS: Sabotage = {
  overlooksOwnSeals: true,
  remember(record) {
    const { doubt: _forgotten, ...kept } = record ?? nothingAbove(0n);
    return record && kept;
  },
};

export const FORGETS_VOTES: Sabotage = { remember: () => undefined, machine: TAKES_PART_ANYWAY };

/** Votes at once where its database has lost blocks for which it has voted. */
export const WAITS_FOR_NO_END: Sabotage = { takesPartWithoutEnd: true };

/** The same, and nothing tells it of its votes. */
export const LOSES_VOTES_WITH_THE_END: Sabotage = { ...FORGETS_VOTES, takesPartWithoutEnd: true };

export const FORGETS_PREPARED_OVER_RESTARTS: Sabotage = {
  remember: (record) => record && { ...record, prepared: undefined },
};

/** Does not relay. */
export const PASSES_NOTHING_ON: Sabotage = { passesNothingOn: true };

/** Buffers ten times the allowed messages. */
export const HOARDS: Sabotage = { hoards: true };

export const SPEAKS_BEFORE_SYNC: Sabotage = { speaksBeforeSync: true };

export const FORGETS_CERTIFICATE: Sabotage = {
  machine: spoiled((height) => ({ ...height, prepared: undefined })),
};

export const LOWERS_QUORUM: Sabotage = {
  machine: spoiled((height) => {
    const { validators } = height.validatorSet;
    const quorum = Math.ceil((2 * validators.length) / 3) - 1;
    return { ...height, validatorSet: { ...height.validatorSet, quorum, prepareQuorum: quorum - 1 } };
  }),
};

/** Caps round timeouts. The join rule makes up for it, so this alone is not sabotage. */
const LONGEST_ROUND_MS = 4_000;

export const CAPS_TIMEOUTS: Sabotage = { machine: capped(step) };

/** No validator joins later rounds, or stays for others: with capped timeouts they never meet. */
export const CAPS_TIMEOUTS_AND_JOINS_NOBODY: Sabotage = { machine: capped(spoiled(onItsOwn)) };

/** A validator that hears too few stays in its round for ever: lost messages are never sent again. */
export const STAYS_FOR_EVER: Sabotage = {
  machine: spoiled((height) => ({
    ...height,
    round: { ...height.round, startedAtMs: Number.POSITIVE_INFINITY },
  })),
};

/**
 * Not sabotage but Besu: it starts in round 0 after a restart, joins only a quorum, never stays in a round for lack of
 * others, and sends nothing twice (ibft2.md#rounds, ibft2.md#restart-and-observers).
 */
export const AS_BESU: Sabotage = {
  remember: () => undefined,
  repeatsNothing: true,
  machine: spoiled(onItsOwn, TAKES_PART_ANYWAY),
};

/** One request for a later round makes all join: a Byzantine validator can mislead them. */
export const JOINS_ANYBODY: Sabotage = {
  machine: spoiled((height) => ({ ...height, validatorSet: { ...height.validatorSet, tolerableFaults: 0 } })),
};

/** Duplicate messages count twice. */
export const COUNTS_AUTHORS_TWICE: Sabotage = {
  machine(rules, state, nowMs, input) {
    const transition = step(rules, state, nowMs, input);
    const { height } = transition.state;
    if (input.kind !== "message" || height === undefined || height.messages !== state.height?.messages) {
      return transition;
    }
    const { message } = input;
    const isRepeated = height.messages.some(
      ({ kind, signed }) =>
        kind === message.kind &&
        equalBytes(signed.author, message.signed.author) &&
        signed.payload.round === message.signed.payload.round,
    );
    if (!isRepeated || message.kind === "proposal") return transition;
    return withHeight(transition, { ...height, messages: [...height.messages, message] });
  },
};

/** A validation result of the last round counts for the block of this round. */
export const TAKES_STALE_RESULTS: Sabotage = {
  machine: misled((state, input) => {
    const { height } = state;
    if (input.kind !== "candidateChecked" || height?.round.validation === undefined) return input;
    const id = { height: height.validatorSet.height, round: height.round.number };
    return { ...input, id, digest: height.round.validation.proposal.candidate.digest };
  }),
};

/** Continues while its disk is full or it lags behind; "resumed" has no effect on a state machine that is not paused. */
export const IGNORES_PAUSES: Sabotage = {
  machine(rules, state, nowMs, input) {
    return step(rules, state, nowMs, input.kind === "paused" ? { kind: "resumed" } : input);
  },
};

/** A timer of an earlier round or height ends the current one; the effect handler would have cancelled it. */
export const TAKES_STALE_TIMERS: Sabotage = {
  cancelsNothing: true,
  machine: misled((state, input) => {
    const { height } = state;
    if (input.kind !== "roundTimer" || height === undefined) return input;
    return { ...input, id: { height: height.validatorSet.height, round: height.round.number } };
  }),
};

/** The proposer follows from the proposer of the round in which we have the parent, not from its builder. */
export const COUNTS_TURNS_BY_ROUND: Sabotage = {
  machine: misled((_state, input) => {
    if (input.kind !== "headAdvanced") return input;
    const { head } = input;
    const { validators } = head.tally;
    const at = validators.findIndex((validator) => equalBytes(validator, head.header.coinbase));
    const proposer = validators[(at + sealedRoundOf(head)) % validators.length];
    const header = { ...head.header, coinbase: proposer ?? head.header.coinbase };
    return { ...input, head: { ...head, header } };
  }),
};

/** A seal counts for the message's author, whatever it signs. */
export const TRUSTS_SEALS: Sabotage = {
  machine: misled((_state, input) => {
    if (input.kind !== "message" || input.message.kind !== "commit") return input;
    return { ...input, message: { ...input.message, sealer: input.message.signed.author } };
  }),
};

/** A proposal of a later round is accepted without its certificate, or with an invalid one. */
export const BELIEVES_PROPOSERS: Sabotage = { machine: believing(IGNORED_CERTIFICATE_ERRORS) };

/** Any coinbase is accepted in a proposed block, and the block's vote counts for it. */
export const BELIEVES_BUILDERS: Sabotage = { machine: believing(["foreignBuilder"]) };

/** A RoundChange counts with any prepared certificate. */
export const BELIEVES_ROUND_CHANGES: Sabotage = {
  machine(rules, state, nowMs, input) {
    const transition = step(rules, state, nowMs, input);
    const [refusal] = transition.effects;
    const { height } = transition.state;
    if (refusal?.kind !== "rejectMessage" || height === undefined) return transition;
    const { message, error } = refusal;
    if (message.kind !== "roundChange" || !IGNORED_CERTIFICATE_ERRORS.includes(error)) return transition;
    const isKnown = findMessage(height.messages, message) !== undefined;
    return isKnown
      ? transition
      : withHeight(transition, { ...height, messages: addMessage(height.messages, message) });
  },
};

/** Every block counts as valid. */
export const TAKES_UNSOUND_BLOCKS: Sabotage = {
  machine: misled((_state, input) => (input.kind === "candidateChecked" ? { ...input, sound: true } : input)),
};

export const IMPORTS_UNSEALED: Sabotage = { importsUnsealed: true };

/** A proposal rejected for one of these errors is validated all the same. */
function believing(errors: readonly string[]): Step {
  return (rules, state, nowMs, input) => {
    const transition = step(rules, state, nowMs, input);
    const [refusal] = transition.effects;
    const { height } = transition.state;
    if (refusal?.kind !== "rejectMessage" || height === undefined) return transition;
    const { message, error } = refusal;
    if (message.kind !== "proposal" || !errors.includes(error)) return transition;
    const { round } = height;
    if (message.signed.payload.round !== round.number || round.validation !== undefined) return transition;
    const id = { height: height.validatorSet.height, round: round.number };
    return {
      state: {
        ...transition.state,
        height: { ...height, round: { ...round, validation: { proposal: message, result: "pending" } } },
      },
      effects: [{ kind: "checkCandidate", id, candidate: message.candidate }],
    };
  };
}

function capped(machine: Step): Step {
  return (rules, state, nowMs, input) => {
    const { state: after, effects } = machine(rules, state, nowMs, input);
    const atMost = nowMs + LONGEST_ROUND_MS;
    return {
      state: after,
      effects: effects.map((effect) =>
        effect.kind === "setRoundTimer" ? { ...effect, atMs: Math.min(effect.atMs, atMost) } : effect,
      ),
    };
  };
}

/** A state machine with changed doubts. */
function doubting(change: (doubt: Doubt) => Doubt): Step {
  const changed = (record: LastSignedState): LastSignedState =>
    record.doubt === undefined ? record : { ...record, doubt: change(record.doubt) };
  return (rules, state, nowMs, input) => {
    const { state: after, effects } = step(rules, state, nowMs, input);
    const { lastSigned } = after;
    return {
      state:
        lastSigned === state.lastSigned || lastSigned === undefined
          ? after
          : { ...after, lastSigned: changed(lastSigned) },
      effects: effects.map((effect) =>
        effect.kind === "recordVote" ? { ...effect, record: changed(effect.record) } : effect,
      ),
    };
  };
}

/** A state machine whose state is changed after every step. */
function spoiled(change: (height: Height) => Height, machine: Step = step): Step {
  return (rules, state, nowMs, input) => {
    const transition = machine(rules, state, nowMs, input);
    const { height } = transition.state;
    return height === undefined ? transition : withHeight(transition, change(height));
  };
}

/** More requests than validators would be needed to join, and no round is old enough to stay in. */
function onItsOwn(height: Height): Height {
  const { validatorSet, round } = height;
  return {
    ...height,
    round: { ...round, startedAtMs: Number.NEGATIVE_INFINITY },
    validatorSet: { ...validatorSet, tolerableFaults: validatorSet.validators.length },
  };
}

/** A state machine with changed inputs. */
function misled(change: (state: State, input: Input) => Input): Step {
  return (rules, state, nowMs, input) => step(rules, state, nowMs, change(state, input));
}

function withHeight({ state, effects }: Transition, height: Height): Transition {
  return { state: { ...state, height }, effects };
}
