import { describe, expect, it } from "vitest";
import { aStage, type Stage, script } from "./stage.ts";

/** A stage whose key is in another process, at the first height. */
function remoteStage(self: string, validators = 4): Stage {
  const stage = aStage({ validators, self, hasRemoteSigner: true });
  stage.start();
  return stage;
}

describe("a validator whose key is in another process", () => {
  it("records its vote before it requests a signature, and says nothing until it is there", () => {
    const stage = remoteStage("b");
    stage.at(1);
    stage.hear(stage.proposal("a", "X", 0));
    stage.at(1.1);
    stage.checked("X", 0, "valid");
    stage.at(1.2);
    stage.signed("prepare", 0);
    stage.at(1.3);
    stage.signed("seal", 0);
    stage.at(1.4);
    stage.signed("commit", 0);
    expect(stage.transcript()).toBe(
      script(`
        0.0 started
            round timer 1/0 at 2
        1.0 hears proposal 1/0 by a: X@0
            check X@0
        1.1 X@0 is valid
            record 1/0 X@0
            request seal 1/0
            request prepare 1/0
        1.2 prepare 1/0 is signed
            request seal 1/0
        1.3 seal 1/0 is signed
            request commit 1/0
        1.4 commit 1/0 is signed
            say prepare 1/0 by b: X@0
      `),
    );
  });

  it("proposes, seals and commits as the only validator, signature by signature", () => {
    const stage = remoteStage("a", 1);
    stage.at(1);
    stage.blockTimer(0);
    stage.at(1.2);
    stage.built("X", 0);
    stage.at(1.3);
    stage.signed("proposal", 0);
    stage.at(1.4);
    stage.signed("seal", 0);
    stage.at(1.5);
    stage.signed("commit", 0);
    expect(stage.transcript()).toBe(
      script(`
        0.0 started
            round timer 1/0 at 2
            block timer 1/0 at 1
        1.0 block timer 1/0
            build 1/0 stamped 1
        1.2 built X@0
            record 1/0 X@0
            request proposal 1/0
        1.3 proposal 1/0 is signed
            say proposal 1/0 by a: X@0
            request seal 1/0
        1.4 seal 1/0 is signed
            request commit 1/0
        1.5 commit 1/0 is signed
            record 1/0 X@0, prepared X@0
            say commit 1/0 by a: X@0
            commit X@0 sealed by a
      `),
    );
  });

  it("drops a signature that comes after its round, and requests the next round", () => {
    const stage = remoteStage("b");
    stage.at(1);
    stage.hear(stage.proposal("a", "X", 0));
    stage.checked("X", 0, "valid");
    stage.at(2);
    stage.roundTimer(0);
    stage.at(2.1);
    stage.signed("seal", 0);
    stage.signed("prepare", 0);
    stage.at(2.2);
    stage.signed("roundChange", 1);
    expect(stage.transcript()).toContain(
      script(`
        2.0 round timer 1/0
            record 1/1 nothing
            round timer 1/1 at 6
            request roundChange 1/1
        2.1 seal 1/0 is signed
        2.1 prepare 1/0 is signed
        2.2 roundChange 1/1 is signed
            say roundChange 1/1 by b
      `),
    );
  });

  it("commits what the others decide while its own signatures are awaited, and is not prepared", () => {
    const stage = remoteStage("d");
    stage.at(1);
    stage.hear(stage.proposal("a", "X", 0));
    for (const v of ["b", "c"]) stage.hear(stage.prepare(v, "X", 0));
    stage.checked("X", 0, "valid");
    stage.at(1.1);
    for (const v of ["a", "b", "c"]) stage.hear(stage.commit(v, "X", 0));
    stage.at(1.2);
    stage.signed("seal", 0);
    expect(stage.transcript()).toContain(
      script(`
        1.1 hears commit 1/0 by c: X@0
            commit X@0 sealed by abc
        1.2 seal 1/0 is signed
      `),
    );
    expect(stage.state.lastSigned?.prepared).toBeUndefined();
  });

  it("commits at once when it finds valid what the others have decided already", () => {
    const stage = remoteStage("d");
    stage.at(1);
    stage.hear(stage.proposal("a", "X", 0));
    for (const v of ["a", "b", "c"]) stage.hear(stage.commit(v, "X", 0));
    stage.checked("X", 0, "valid");
    expect(stage.transcript()).toContain("commit X@0 sealed by abc");
  });

  it("proposes again what it recorded, however long the signature takes, and never another block", () => {
    const stage = remoteStage("b");
    stage.at(2);
    stage.roundTimer(0);
    for (const v of ["a", "c"]) stage.hear(stage.roundChange(v, 1));
    stage.at(2.1);
    stage.signed("roundChange", 1);
    stage.built("X", 1);
    stage.hear(stage.roundChange("d", 1));
    stage.at(2.3);
    stage.signed("proposal", 1);
    expect(stage.transcript()).toContain("say proposal 1/1 by b: X@1 as asked by acb");
  });

  it("proposes the prepared block of the others once the signature is there, though others ask meanwhile", () => {
    const stage = remoteStage("b");
    stage.at(2);
    stage.roundTimer(0);
    const prepared = stage.prepared("acd", "X", 0);
    stage.hear(stage.roundChange("a", 1));
    stage.hear(stage.roundChange("c", 1, prepared));
    stage.hear(stage.roundChange("d", 1));
    stage.at(2.2);
    stage.signed("roundChange", 1);
    stage.signed("proposal", 1);
    const text = stage.transcript();
    expect(text).toContain("say proposal 1/1 by b: X@1 as asked by acd");
    expect(text).not.toContain("say roundChange 1/1 by b");
    expect(text.split("record 1/1 X@1")).toHaveLength(2);
  });

  it("requests its round again after a restart in which nothing was signed", () => {
    const stage = remoteStage("b");
    stage.at(2);
    stage.roundTimer(0);
    stage.at(3);
    stage.restart();
    stage.signed("roundChange", 1);
    expect(stage.transcript()).toContain("say roundChange 1/1 by b");
  });

  it("leaves a round after a restart in which it had recorded a vote that was never signed", () => {
    const stage = remoteStage("b");
    stage.at(1);
    stage.hear(stage.proposal("a", "X", 0));
    stage.checked("X", 0, "valid");
    stage.at(1.5);
    stage.restart();
    stage.hear(stage.proposal("a", "Y", 0));
    expect(stage.transcript()).toContain("request roundChange 1/1");
    expect(stage.transcript()).not.toContain("check Y");
  });
});
