import { describe, expect, it } from "vitest";
import { withRound } from "../../src/ibft/candidate.ts";
import type { Authored, Commit, Proposal, RoundChange } from "../../src/ibft/message.ts";
import { findMessageError } from "../../src/ibft/messageRules.ts";
import { validatorSetAfter } from "../../src/ibft/validatorSet.ts";
import { aGenesisHead, toyAddress, toyAddresses } from "../builders/toyChain.ts";
import { aStage, type Stage } from "../scenarios/stage.ts";

/** Four validators at height 1: a proposes in round 0, b in round 1, c in round 2; e is a stranger. */
const validatorSet = validatorSetAfter(aGenesisHead(toyAddresses(4)));

interface Case {
  readonly title: string;
  readonly say: (stage: Stage) => Authored;
  readonly flaw: string | undefined;
}

const asking = (stage: Stage, letters: string, round: number): Authored[] =>
  [...letters].map((v) => stage.roundChange(v, round));

const CASES: readonly Case[] = [
  { title: "a proposal by the proposer", say: (s) => s.proposal("a", "X", 0), flaw: undefined },
  { title: "a proposal by another", say: (s) => s.proposal("b", "X", 0), flaw: "wrongProposer" },
  { title: "a proposal by a stranger", say: (s) => s.proposal("e", "X", 0), flaw: "authorNotValidator" },
  {
    title: "a proposal of another height",
    say: (s) => changed(s.proposal("a", "X", 0), { height: 2n }),
    flaw: "wrongHeight",
  },
  {
    title: "a proposal whose block has another round",
    say: (s) => ({ ...proposal(s.proposal("a", "X", 0)), candidate: withRound(s.block("X"), 1) }),
    flaw: "wrongCandidate",
  },
  {
    title: "a proposal with another block than it names",
    say: (s) => ({ ...proposal(s.proposal("a", "X", 0)), candidate: s.block("Y") }),
    flaw: "wrongCandidate",
  },
  {
    title: "a certificate in round 0",
    say: (s) => s.proposal("a", "X", 0, asking(s, "abc", 1)),
    flaw: "certificateUncalledFor",
  },
  { title: "round 1 without certificate", say: (s) => s.proposal("b", "X", 1), flaw: "certificateMissing" },
  {
    title: "round 1 as asked by a quorum",
    say: (s) => {
      s.block("X", 1);
      return s.proposal("b", "X", 1, asking(s, "cda", 1));
    },
    flaw: undefined,
  },
  {
    title: "round 1 with a new block in the name of another",
    say: (s) => s.proposal("b", "X", 1, asking(s, "cda", 1)),
    flaw: "foreignBuilder",
  },
  {
    title: "round 0 with a block in the name of another",
    say: (s) => {
      s.block("X", 1);
      return s.proposal("a", "X", 0);
    },
    flaw: "foreignBuilder",
  },
  {
    title: "round 1 as asked by too few",
    say: (s) => s.proposal("b", "X", 1, asking(s, "cd", 1)),
    flaw: "tooFewRoundChanges",
  },
  {
    title: "round 1 as asked by one twice",
    say: (s) => s.proposal("b", "X", 1, asking(s, "cdd", 1)),
    flaw: "duplicateAuthors",
  },
  {
    title: "round 1 as asked by a stranger too",
    say: (s) => s.proposal("b", "X", 1, asking(s, "cdae", 1)),
    flaw: "authorNotValidator",
  },
  {
    title: "round 1 where another was asked for",
    say: (s) => s.proposal("b", "X", 1, asking(s, "cda", 2)),
    flaw: "wrongRound",
  },
  {
    title: "the prepared block again",
    say: (s) =>
      s.proposal("b", "X", 1, [...asking(s, "cd", 1), s.roundChange("a", 1, s.prepared("abd", "X", 0))]),
    flaw: undefined,
  },
  {
    title: "another block instead of the prepared one",
    say: (s) =>
      s.proposal("b", "Y", 1, [...asking(s, "cd", 1), s.roundChange("a", 1, s.prepared("abd", "X", 0))]),
    flaw: "preparedBlockReplaced",
  },
  {
    title: "the block prepared first instead of the one prepared last",
    say: (s) =>
      s.proposal("c", "X", 2, [
        s.roundChange("a", 2, s.prepared("abd", "X", 0)),
        s.roundChange("b", 2, s.prepared("bad", "Y", 1)),
        s.roundChange("c", 2),
      ]),
    flaw: "preparedBlockReplaced",
  },
  { title: "a Prepare", say: (s) => s.prepare("b", "X", 0), flaw: undefined },
  { title: "a Prepare by the proposer", say: (s) => s.prepare("a", "X", 0), flaw: "prepareByProposer" },
  { title: "a Commit", say: (s) => s.commit("a", "X", 0), flaw: undefined },
  {
    title: "a Commit with another's seal",
    say: (s) => ({ ...(s.commit("a", "X", 0) as Commit), sealer: toyAddress(1) }),
    flaw: "wrongSealer",
  },
  {
    title: "a Commit with a seal of no key",
    say: (s) => ({ ...(s.commit("a", "X", 0) as Commit), sealer: undefined }),
    flaw: "wrongSealer",
  },
  { title: "a RoundChange", say: (s) => s.roundChange("d", 7), flaw: undefined },
  { title: "a RoundChange to round 0", say: (s) => s.roundChange("d", 0), flaw: "wrongRound" },
  {
    title: "a RoundChange with a prepared block",
    say: (s) => s.roundChange("d", 1, s.prepared("abc", "X", 0)),
    flaw: undefined,
  },
  {
    title: "a certificate with more Prepares than needed",
    say: (s) => s.roundChange("d", 1, s.prepared("abcd", "X", 0)),
    flaw: undefined,
  },
  {
    title: "a certificate with too few Prepares",
    say: (s) => s.roundChange("d", 1, s.prepared("ab", "X", 0)),
    flaw: "tooFewPrepares",
  },
  {
    title: "a certificate with one Prepare twice",
    say: (s) => s.roundChange("d", 1, s.prepared("abb", "X", 0)),
    flaw: "duplicateAuthors",
  },
  {
    title: "a certificate with the proposer's own Prepare",
    say: (s) => s.roundChange("d", 1, s.prepared("aba", "X", 0)),
    flaw: "prepareByProposer",
  },
  {
    title: "a certificate with a stranger's Prepare",
    say: (s) => s.roundChange("d", 1, s.prepared("abe", "X", 0)),
    flaw: "authorNotValidator",
  },
  {
    title: "a certificate of a proposal by the wrong validator",
    say: (s) => s.roundChange("d", 1, s.prepared("bac", "X", 0)),
    flaw: "wrongProposer",
  },
  {
    title: "a certificate of the round that is asked for",
    say: (s) => s.roundChange("d", 1, s.prepared("bac", "X", 1)),
    flaw: "wrongRound",
  },
  {
    title: "a certificate without its block",
    say: (s) => {
      const { candidate: _, ...bare } = s.roundChange("d", 1, s.prepared("abc", "X", 0)) as RoundChange;
      return bare;
    },
    flaw: "candidateMissing",
  },
  {
    title: "a block without certificate",
    say: (s) => ({ ...(s.roundChange("d", 1) as RoundChange), candidate: s.block("X") }),
    flaw: "candidateUncalledFor",
  },
  {
    title: "a certificate with another block",
    say: (s) => ({
      ...(s.roundChange("d", 1, s.prepared("abc", "X", 0)) as RoundChange),
      candidate: s.block("Y"),
    }),
    flaw: "wrongCandidate",
  },
];

describe("a message is judged", () => {
  it.each(CASES)("$title: $flaw", ({ say, flaw }) => {
    const stage = aStage({ validators: 4, self: "d" });
    expect(findMessageError(validatorSet, withRound, say(stage))).toBe(flaw);
  });
});

function proposal(message: Authored): Proposal {
  if (message.kind !== "proposal") throw new Error("not a proposal");
  return message;
}

function changed(message: Authored, change: { readonly height: bigint }): Authored {
  const { kind, signed } = proposal(message);
  return { ...proposal(message), kind, signed: { ...signed, payload: { ...signed.payload, ...change } } };
}
