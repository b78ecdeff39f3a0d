import { describe, expect, it } from "vitest";
import { withRound } from "../../src/ibft/candidate.ts";
import type { Commit, Proposal, RoundChange, SignedMessage } from "../../src/ibft/message.ts";
import { findMessageError } from "../../src/ibft/messageRules.ts";
import { validatorSetAfter } from "../../src/ibft/validatorSet.ts";
import { aGenesisHead, toyAddress, toyAddresses } from "../builders/toyChain.ts";
import { aStage, type Stage } from "../scenarios/stage.ts";

/** Four validators at height 1: a proposes in round 0, b in round 1, c in round 2; e is not a validator. */
const validatorSet = validatorSetAfter(aGenesisHead(toyAddresses(4)));

interface Case {
  readonly title: string;
  readonly say: (stage: Stage) => SignedMessage;
  readonly error: string | undefined;
}

const asking = (stage: Stage, letters: string, round: number): SignedMessage[] =>
  [...letters].map((v) => stage.roundChange(v, round));

const CASES: readonly Case[] = [
  { title: "a proposal by the proposer", say: (s) => s.proposal("a", "X", 0), error: undefined },
  { title: "a proposal by another", say: (s) => s.proposal("b", "X", 0), error: "wrongProposer" },
  {
    title: "a proposal by a non-validator",
    say: (s) => s.proposal("e", "X", 0),
    error: "authorNotValidator",
  },
  {
    title: "a proposal of another height",
    say: (s) => changed(s.proposal("a", "X", 0), { height: 2n }),
    error: "wrongHeight",
  },
  {
    title: "a proposal whose block has another round",
    say: (s) => ({ ...proposal(s.proposal("a", "X", 0)), candidate: withRound(s.block("X"), 1) }),
    error: "wrongCandidate",
  },
  {
    title: "a proposal with another block than it names",
    say: (s) => ({ ...proposal(s.proposal("a", "X", 0)), candidate: s.block("Y") }),
    error: "wrongCandidate",
  },
  {
    title: "a certificate in round 0",
    say: (s) => s.proposal("a", "X", 0, asking(s, "abc", 1)),
    error: "certificateUncalledFor",
  },
  { title: "round 1 without certificate", say: (s) => s.proposal("b", "X", 1), error: "certificateMissing" },
  {
    title: "round 1 as asked by a quorum",
    say: (s) => {
      s.block("X", 1);
      return s.proposal("b", "X", 1, asking(s, "cda", 1));
    },
    error: undefined,
  },
  {
    title: "round 1 with a new block in the name of another",
    say: (s) => s.proposal("b", "X", 1, asking(s, "cda", 1)),
    error: "foreignBuilder",
  },
  {
    title: "round 0 with a block in the name of another",
    say: (s) => {
      s.block("X", 1);
      return s.proposal("a", "X", 0);
    },
    error: "foreignBuilder",
  },
  {
    title: "round 1 as asked by too few",
    say: (s) => s.proposal("b", "X", 1, asking(s, "cd", 1)),
    error: "tooFewRoundChanges",
  },
  {
    title: "round 1 as asked by one twice",
    say: (s) => s.proposal("b", "X", 1, asking(s, "cdd", 1)),
    error: "duplicateAuthors",
  },
  {
    title: "round 1 with a request by a non-validator too",
    say: (s) => s.proposal("b", "X", 1, asking(s, "cdae", 1)),
    error: "authorNotValidator",
  },
  {
    title: "round 1 where another was asked for",
    say: (s) => s.proposal("b", "X", 1, asking(s, "cda", 2)),
    error: "wrongRound",
  },
  {
    title: "the prepared block again",
    say: (s) =>
      s.proposal("b", "X", 1, [...asking(s, "cd", 1), s.roundChange("a", 1, s.prepared("abd", "X", 0))]),
    error: undefined,
  },
  {
    title: "another block instead of the prepared one",
    say: (s) =>
      s.proposal("b", "Y", 1, [...asking(s, "cd", 1), s.roundChange("a", 1, s.prepared("abd", "X", 0))]),
    error: "preparedBlockReplaced",
  },
  {
    title: "the block prepared first instead of the one prepared last",
    say: (s) =>
      s.proposal("c", "X", 2, [
        s.roundChange("a", 2, s.prepared("abd", "X", 0)),
        s.roundChange("b", 2, s.prepared("bad", "Y", 1)),
        s.roundChange("c", 2),
      ]),
    error: "preparedBlockReplaced",
  },
  { title: "a Prepare", say: (s) => s.prepare("b", "X", 0), error: undefined },
  { title: "a Prepare by the proposer", say: (s) => s.prepare("a", "X", 0), error: "prepareByProposer" },
  { title: "a Commit", say: (s) => s.commit("a", "X", 0), error: undefined },
  {
    title: "a Commit with another's seal",
    say: (s) => ({ ...(s.commit("a", "X", 0) as Commit), sealer: toyAddress(1) }),
    error: "wrongSealer",
  },
  {
    title: "a Commit with a seal that has no signer",
    say: (s) => ({ ...(s.commit("a", "X", 0) as Commit), sealer: undefined }),
    error: "wrongSealer",
  },
  { title: "a RoundChange", say: (s) => s.roundChange("d", 7), error: undefined },
  { title: "a RoundChange to round 0", say: (s) => s.roundChange("d", 0), error: "wrongRound" },
  {
    title: "a RoundChange with a prepared block",
    say: (s) => s.roundChange("d", 1, s.prepared("abc", "X", 0)),
    error: undefined,
  },
  {
    title: "a certificate with more Prepares than needed",
    say: (s) => s.roundChange("d", 1, s.prepared("abcd", "X", 0)),
    error: undefined,
  },
  {
    title: "a certificate with too few Prepares",
    say: (s) => s.roundChange("d", 1, s.prepared("ab", "X", 0)),
    error: "tooFewPrepares",
  },
  {
    title: "a certificate with one Prepare twice",
    say: (s) => s.roundChange("d", 1, s.prepared("abb", "X", 0)),
    error: "duplicateAuthors",
  },
  {
    title: "a certificate with the proposer's own Prepare",
    say: (s) => s.roundChange("d", 1, s.prepared("aba", "X", 0)),
    error: "prepareByProposer",
  },
  {
    title: "a certificate with a Prepare of a non-validator",
    say: (s) => s.roundChange("d", 1, s.prepared("abe", "X", 0)),
    error: "authorNotValidator",
  },
  {
    title: "a certificate of a proposal by the wrong validator",
    say: (s) => s.roundChange("d", 1, s.prepared("bac", "X", 0)),
    error: "wrongProposer",
  },
  {
    title: "a certificate of the requested round",
    say: (s) => s.roundChange("d", 1, s.prepared("bac", "X", 1)),
    error: "wrongRound",
  },
  {
    title: "a certificate without its block",
    say: (s) => {
      const { candidate: _, ...bare } = s.roundChange("d", 1, s.prepared("abc", "X", 0)) as RoundChange;
      return bare;
    },
    error: "candidateMissing",
  },
  {
    title: "a block without certificate",
    say: (s) => ({ ...(s.roundChange("d", 1) as RoundChange), candidate: s.block("X") }),
    error: "candidateUncalledFor",
  },
  {
    title: "a certificate with another block",
    say: (s) => ({
      ...(s.roundChange("d", 1, s.prepared("abc", "X", 0)) as RoundChange),
      candidate: s.block("Y"),
    }),
    error: "wrongCandidate",
  },
];

describe("a message is validated", () => {
  it.each(CASES)("$title: $error", ({ say, error }) => {
    const stage = aStage({ validators: 4, self: "d" });
    expect(findMessageError(validatorSet, withRound, say(stage))).toBe(error);
  });
});

function proposal(message: SignedMessage): Proposal {
  if (message.kind !== "proposal") throw new Error("not a proposal");
  return message;
}

function changed(message: SignedMessage, change: { readonly height: bigint }): SignedMessage {
  const { kind, signed } = proposal(message);
  return { ...proposal(message), kind, signed: { ...signed, payload: { ...signed.payload, ...change } } };
}
