import type { Input } from "../../src/ibft/input.ts";
import { addMessage, findMessage } from "../../src/ibft/messageSet.ts";
import type { Height, State } from "../../src/ibft/state.ts";
import { type Step, step, type Transition } from "../../src/ibft/step.ts";
import { equalBytes } from "../../src/primitives/hex.ts";
import type { Sabotage } from "./simulatedNode.ts";
import { sealedRoundOf } from "./toyLedger.ts";

const CERTIFICATE_FLAWS: readonly string[] = [
  ...["certificateMissing", "tooFewRoundChanges", "tooFewPrepares", "duplicateAuthors"],
  ...["authorNotValidator", "wrongProposer", "prepareByProposer", "wrongRound", "wrongDigest"],
  "preparedBlockReplaced",
];

/** Machines with one rule broken, made by standing between the machine and the world; the machine itself has no switches. */

export const FORGETS_VOTES: Sabotage = { remember: () => undefined };

export const FORGETS_PREPARED_OVER_RESTARTS: Sabotage = {
  remember: (record) => record && { ...record, prepared: undefined },
};

/** Each keeps to itself what it hears. */
export const PASSES_NOTHING_ON: Sabotage = { passesNothingOn: true };

/** Keeps ten times the messages that it may. */
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

/** Rounds never get longer than this. What it costs is borne by the join rule alone, so it is no sabotage yet. */
const LONGEST_ROUND_MS = 4_000;

export const CAPS_TIMEOUTS: Sabotage = { machine: capped(step) };

/** Nobody goes along when others ask for later rounds, or waits for them: with capped timeouts they never meet. */
export const CAPS_TIMEOUTS_AND_JOINS_NOBODY: Sabotage = { machine: capped(spoiled(onItsOwn)) };

/** Whoever hears too few stays in its round until it hears more: words that got lost are never said again. */
export const STAYS_FOR_EVER: Sabotage = {
  machine: spoiled((height) => ({
    ...height,
    round: { ...height.round, startedAtMs: Number.POSITIVE_INFINITY },
  })),
};

/**
 * Not sabotage but Besu: it begins in round 0 after a restart, goes along with nobody but a quorum, stays in no round for
 * want of others, and says nothing twice (ibft2.md#rounds, ibft2.md#restart-and-observers).
 */
export const AS_BESU: Sabotage = {
  remember: () => undefined,
  repeatsNothing: true,
  machine: spoiled(onItsOwn),
};

/** One asks for a later round, and all go along: a liar leads them about. */
export const JOINS_ANYBODY: Sabotage = {
  machine: spoiled((height) => ({ ...height, validatorSet: { ...height.validatorSet, tolerableFaults: 0 } })),
};

/** Whoever says a thing twice counts for two. */
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

/** The verdict on a block of the last round is taken for one on the block of this round. */
export const TAKES_STALE_VERDICTS: Sabotage = {
  machine: misled((state, input) => {
    const { height } = state;
    if (input.kind !== "candidateChecked" || height?.round.validation === undefined) return input;
    const id = { height: height.validatorSet.height, round: height.round.number };
    return { ...input, id, digest: height.round.validation.proposal.candidate.digest };
  }),
};

/** Goes on while its disk is full or it lags behind; "resumed" is nothing to a machine that was not paused. */
export const IGNORES_PAUSES: Sabotage = {
  machine(rules, state, nowMs, input) {
    return step(rules, state, nowMs, input.kind === "paused" ? { kind: "resumed" } : input);
  },
};

/** A timer that was set for an earlier round or height ends the present one; the effect handler would have cancelled it. */
export const TAKES_STALE_TIMERS: Sabotage = {
  cancelsNothing: true,
  machine: misled((state, input) => {
    const { height } = state;
    if (input.kind !== "roundTimer" || height === undefined) return input;
    return { ...input, id: { height: height.validatorSet.height, round: height.round.number } };
  }),
};

/** The turns go on from whoever proposed in the round in which we happen to hold the parent, not from who made it. */
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

/** A seal counts as its bearer's, whatever it is about. */
export const TRUSTS_SEALS: Sabotage = {
  machine: misled((_state, input) => {
    if (input.kind !== "message" || input.message.kind !== "commit") return input;
    return { ...input, message: { ...input.message, sealer: input.message.signed.author } };
  }),
};

/** The proposer of a later round is believed without the proof, or with a false one. */
export const BELIEVES_PROPOSERS: Sabotage = { machine: believing(CERTIFICATE_FLAWS) };

/** Whoever is named as the builder of a block is taken for it, and the block's vote for that one's. */
export const BELIEVES_BUILDERS: Sabotage = { machine: believing(["foreignBuilder"]) };

/** A wish for a round counts with whatever it brings as proof of a prepared block. */
export const BELIEVES_ROUND_CHANGES: Sabotage = {
  machine(rules, state, nowMs, input) {
    const transition = step(rules, state, nowMs, input);
    const [refusal] = transition.effects;
    const { height } = transition.state;
    if (refusal?.kind !== "rejectMessage" || height === undefined) return transition;
    const { message, error: flaw } = refusal;
    if (message.kind !== "roundChange" || !CERTIFICATE_FLAWS.includes(flaw)) return transition;
    const isKnown = findMessage(height.messages, message) !== undefined;
    return isKnown
      ? transition
      : withHeight(transition, { ...height, messages: addMessage(height.messages, message) });
  },
};

/** Every block is called sound. */
export const TAKES_UNSOUND_BLOCKS: Sabotage = {
  machine: misled((_state, input) => (input.kind === "candidateChecked" ? { ...input, sound: true } : input)),
};

export const IMPORTS_UNSEALED: Sabotage = { importsUnsealed: true };

/** A proposal that is refused for one of those flaws is put on trial all the same. */
function believing(flaws: readonly string[]): Step {
  return (rules, state, nowMs, input) => {
    const transition = step(rules, state, nowMs, input);
    const [refusal] = transition.effects;
    const { height } = transition.state;
    if (refusal?.kind !== "rejectMessage" || height === undefined) return transition;
    const { message, error: flaw } = refusal;
    if (message.kind !== "proposal" || !flaws.includes(flaw)) return transition;
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

/** A machine whose state is changed behind its back after every step. */
function spoiled(change: (height: Height) => Height): Step {
  return (rules, state, nowMs, input) => {
    const transition = step(rules, state, nowMs, input);
    const { height } = transition.state;
    return height === undefined ? transition : withHeight(transition, change(height));
  };
}

/** More would have to ask than there are, and whoever has begun a round that long ago does not stay in it. */
function onItsOwn(height: Height): Height {
  const { validatorSet, round } = height;
  return {
    ...height,
    round: { ...round, startedAtMs: Number.NEGATIVE_INFINITY },
    validatorSet: { ...validatorSet, tolerableFaults: validatorSet.validators.length },
  };
}

/** A machine that is told something else. */
function misled(change: (state: State, input: Input) => Input): Step {
  return (rules, state, nowMs, input) => step(rules, state, nowMs, change(state, input));
}

function withHeight({ state, effects }: Transition, height: Height): Transition {
  return { state: { ...state, height }, effects };
}
