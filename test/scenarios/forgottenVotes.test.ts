import { describe, expect, it } from "vitest";
import type { LastSignedState } from "../../src/ibft/lastSigned.ts";
import { forgottenAt } from "../../src/ibft/lostVotes.ts";
import { aStage, type Stage } from "./stage.ts";

/**
 * Four validators requested round 1 of height 1 and went down; no block was prepared. All restart, and b is faulty and
 * kept the requests of the others. At height 1 a proposes in round 0, b in round 1; three of four are a quorum.
 */
describe("a faulty validator that kept round-change requests from before all stopped", () => {
  it("gets two blocks decided at one height when the others have forgotten theirs, as Besu does", () => {
    const { a, c } = playAfterRestart(forgottenAt(1n));
    expect(a.transcript()).toContain("commit X@0 sealed by");
    expect(c.transcript()).toContain("commit Y@1 sealed by");
  });

  it("gets one block decided when they have lost theirs: they find themselves among the requests", () => {
    const { a, c, d } = playAfterRestart(undefined);
    expect(a.transcript()).toContain("commit X@0 sealed by");
    for (const stage of [c, d]) {
      expect(stage.transcript()).toContain("silent (old) up to 1");
      expect(stage.transcript()).not.toMatch(/say .*Y@1/);
    }
  });

  it("gets one block decided when they have vote logs", () => {
    const { a, c, d } = playAfterRestart({
      height: 1n,
      round: 1,
      digest: undefined,
      prepared: undefined,
    });
    for (const stage of [a, c, d]) {
      expect(stage.transcript()).not.toContain("X@0 sealed by");
      expect(stage.transcript()).not.toMatch(/say .*X@0/);
    }
    expect(c.transcript()).toContain("commit Y@1 sealed by");
  });
});

function playAfterRestart(record: LastSignedState | undefined): Readonly<Record<"a" | "c" | "d", Stage>> {
  const [a, c, d] = ["a", "c", "d"].map((self) => aStage({ validators: 4, self })) as [Stage, Stage, Stage];
  for (const stage of [a, c, d]) {
    stage.at(1);
    stage.start(record);
  }
  // Round 0: a and c prepare X with b's help, and only a receives enough to commit it. d receives nothing.
  if (a.state.height?.round.duty !== undefined) a.built("X", 0);
  const isProposed = a.transcript().includes("say proposal 1/0 by a: X@0");
  c.block("X", 0);
  c.hear(c.proposal("a", "X", 0));
  c.checked("X", 0, "valid");
  c.hear(c.prepare("b", "X", 0));
  const isSealed = c.transcript().includes("say commit 1/0 by c: X@0");
  const isBound = record !== undefined && record.height === 1n;
  expect([isProposed, isSealed]).toEqual(isBound ? [false, false] : [true, true]);
  if (isProposed) for (const v of ["b", "c"]) a.hear(a.prepare(v, "X", 0));
  if (isSealed) for (const v of ["b", "c"]) a.hear(a.commit(v, "X", 0));
  // Round 1: b proposes another block, with the old requests as proof that no block was prepared.
  for (const stage of [c, d]) {
    const requests = ["a", "c", "d"].map((v) => stage.roundChange(v, 1));
    stage.block("Y", 1);
    stage.hear(stage.proposal("b", "Y", 1, requests));
    stage.checked("Y", 1, "valid");
  }
  for (const [stage, other] of [
    [c, "d"],
    [d, "c"],
  ] as const) {
    stage.hear(stage.prepare(other, "Y", 1));
    for (const v of ["b", other]) stage.hear(stage.commit(v, "Y", 1));
  }
  return { a, c, d };
}
