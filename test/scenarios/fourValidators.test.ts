import { describe, expect, it } from "vitest";
import { aStage, type Stage, script } from "./stage.ts";

/** At height 1 a proposes in round 0, b in round 1, c in round 2; three of four are a quorum. */
describe("one of four validators", () => {
  it("proposes, and commits on the third Commit, its own included", () => {
    const stage = started("a");
    stage.built("X", 0);
    stage.hear(stage.prepare("b", "X", 0));
    stage.hear(stage.prepare("c", "X", 0));
    stage.hear(stage.prepare("d", "X", 0));
    stage.hear(stage.commit("d", "X", 0));
    stage.hear(stage.commit("c", "X", 0));
    stage.hear(stage.commit("b", "X", 0));
    stage.headAdvanced("X");
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
            build 1/0 stamped 1
        1.0 built X@0
            record 1/0 X@0
            say proposal 1/0 by a: X@0
        1.0 hears prepare 1/0 by b: X@0
        1.0 hears prepare 1/0 by c: X@0
            record 1/0 X@0, prepared X@0
            say commit 1/0 by a: X@0
        1.0 hears prepare 1/0 by d: X@0
        1.0 hears commit 1/0 by d: X@0
        1.0 hears commit 1/0 by c: X@0
            commit X@0 sealed by adc
        1.0 hears commit 1/0 by b: X@0
        1.0 head X
            round timer 2/0 at 3
      `),
    );
  });

  it("counts a Prepare that came before the proposal, and prepares only after validation", () => {
    const stage = started("c");
    stage.hear(stage.prepare("b", "X", 0));
    stage.hear(stage.proposal("a", "X", 0));
    stage.checked("X", 0, "valid");
    stage.hear(stage.commit("b", "X", 0));
    stage.hear(stage.commit("a", "X", 0));
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
        1.0 hears prepare 1/0 by b: X@0
        1.0 hears proposal 1/0 by a: X@0
            check X@0
        1.0 X@0 is valid
            record 1/0 X@0, prepared X@0
            say prepare 1/0 by c: X@0
            say commit 1/0 by c: X@0
        1.0 hears commit 1/0 by b: X@0
        1.0 hears commit 1/0 by a: X@0
            commit X@0 sealed by cba
      `),
    );
  });

  it("decides on Commits that came before the proposal, prepared or not", () => {
    const stage = started("d");
    stage.hear(stage.commit("b", "X", 0));
    stage.hear(stage.commit("c", "X", 0));
    stage.hear(stage.proposal("a", "X", 0));
    stage.checked("X", 0, "valid");
    stage.at(3);
    stage.roundTimer(0);
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
        1.0 hears commit 1/0 by b: X@0
        1.0 hears commit 1/0 by c: X@0
        1.0 hears proposal 1/0 by a: X@0
            check X@0
        1.0 X@0 is valid
            record 1/0 X@0
            say prepare 1/0 by d: X@0
            commit X@0 sealed by bcd
        3.0 round timer 1/0
            commit X@0 sealed by bcd
            round timer 1/0 at 5
      `),
    );
  });

  it("stays eight timeouts in a round in which fewer than a quorum are heard, and leaves it earlier once they are", () => {
    const stage = started("d");
    stage.at(3);
    stage.roundTimer(0);
    stage.hear(stage.roundChange("a", 1));
    stage.at(7);
    stage.roundTimer(1);
    stage.at(11);
    stage.hear(stage.roundChange("c", 1));
    stage.roundTimer(1);
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
        3.0 round timer 1/0
            record 1/1 nothing
            round timer 1/1 at 7
            say roundChange 1/1 by d
        3.0 hears roundChange 1/1 by a
        7.0 round timer 1/1
            round timer 1/1 at 11
        11.0 hears roundChange 1/1 by c
        11.0 round timer 1/1
            record 1/2 nothing
            round timer 1/2 at 19
            say roundChange 1/2 by d
      `),
    );
    const lonely = started("d");
    for (const [seconds, round] of [
      [3, 0],
      [31, 1],
      [35, 1],
    ] as const) {
      lonely.at(seconds);
      lonely.roundTimer(round);
    }
    expect(lonely.transcript()).toContain("35.0 round timer 1/1\n    record 1/2 nothing");
  });

  it("sends the block it saw prepared to the next round, whose proposer proposes it again", () => {
    const stage = started("b");
    stage.hear(stage.proposal("a", "X", 0));
    stage.checked("X", 0, "valid");
    stage.hear(stage.prepare("c", "X", 0));
    stage.at(3);
    stage.roundTimer(0);
    stage.hear(stage.roundChange("c", 1));
    stage.hear(stage.roundChange("d", 1));
    stage.checked("X", 1, "valid");
    stage.hear(stage.prepare("a", "X", 1));
    stage.hear(stage.prepare("c", "X", 1));
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
        1.0 hears proposal 1/0 by a: X@0
            check X@0
        1.0 X@0 is valid
            record 1/0 X@0
            say prepare 1/0 by b: X@0
        1.0 hears prepare 1/0 by c: X@0
            record 1/0 X@0, prepared X@0
            say commit 1/0 by b: X@0
        3.0 round timer 1/0
            record 1/1 nothing, prepared X@0
            round timer 1/1 at 7
            say roundChange 1/1 by b, prepared X@0
        3.0 hears roundChange 1/1 by c
        3.0 hears roundChange 1/1 by d
            record 1/1 X@1, prepared X@0
            say proposal 1/1 by b: X@1 as asked by bcd
            check X@1
        3.0 X@1 is valid
        3.0 hears prepare 1/1 by a: X@1
        3.0 hears prepare 1/1 by c: X@1
            record 1/1 X@1, prepared X@1
            say commit 1/1 by b: X@1
      `),
    );
  });

  it("sends every Prepare that it has, not only those that it needed", () => {
    const stage = started("a");
    stage.built("X", 0);
    for (const v of ["c", "d", "b"]) stage.hear(stage.prepare(v, "X", 0));
    const needed = stage.state.lastSigned?.prepared?.certificate.prepares;
    stage.at(3);
    stage.roundTimer(0);
    const { certificate } = stage.state.lastSigned?.prepared ?? {};
    expect(needed?.length).toBe(2);
    expect(certificate?.prepares.length).toBe(3);
    expect(certificate?.prepares.slice(0, 2)).toEqual(needed);
    expect(stage.state.height?.messages.at(-1)?.signed.payload).toMatchObject({ prepared: certificate });
  });

  it("proposes the block that was prepared last, though it never received it before", () => {
    const stage = started("c");
    stage.hear(stage.roundChange("a", 2, stage.prepared("abd", "X", 0)));
    stage.hear(stage.roundChange("d", 2, stage.prepared("bad", "Y", 1)));
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
        1.0 hears roundChange 1/2 by a, prepared X@0
        1.0 hears roundChange 1/2 by d, prepared Y@1
            record 1/2 Y@2
            round timer 1/2 at 9
            say roundChange 1/2 by c
            say proposal 1/2 by c: Y@2 as asked by adc
            check Y@2
      `),
    );
  });

  it("builds a new block when none was prepared, and ignores later certificates", () => {
    const stage = started("b");
    stage.at(3.9);
    stage.hear(stage.roundChange("c", 1));
    stage.hear(stage.roundChange("d", 1));
    stage.hear(stage.roundChange("a", 1, stage.prepared("acd", "X", 0)));
    stage.built("Y", 1);
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
        3.9 hears roundChange 1/1 by c
        3.9 hears roundChange 1/1 by d
            record 1/1 nothing
            round timer 1/1 at 7.9
            say roundChange 1/1 by b
            build 1/1 stamped 3
        3.9 hears roundChange 1/1 by a, prepared X@0
        3.9 built Y@1
            record 1/1 Y@1
            say proposal 1/1 by b: Y@1 as asked by cdb
      `),
    );
  });

  it("moves to a later round when a proposal proves that a quorum requested it", () => {
    const stage = started("d");
    stage.block("Z", 2);
    const asked = ["a", "b", "c"].map((v) => stage.roundChange(v, 2));
    stage.hear(stage.proposal("c", "Z", 2, asked));
    stage.checked("Z", 2, "valid");
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
        1.0 hears proposal 1/2 by c: Z@2 as asked by abc
            round timer 1/2 at 9
            check Z@2
        1.0 Z@2 is valid
            record 1/2 Z@2
            say prepare 1/2 by d: Z@2
      `),
    );
  });

  it("counts votes of a later round once it gets there", () => {
    const stage = started("d");
    stage.block("Z", 2);
    stage.hear(stage.prepare("a", "Z", 2));
    stage.hear(
      stage.proposal(
        "c",
        "Z",
        2,
        ["a", "b", "c"].map((v) => stage.roundChange(v, 2)),
      ),
    );
    stage.checked("Z", 2, "valid");
    expect(stage.transcript()).toContain("record 1/2 Z@2, prepared Z@2");
  });

  it("never votes again in a round in which it voted before a crash", () => {
    const stage = started("d");
    stage.hear(stage.proposal("a", "X", 0));
    stage.checked("X", 0, "valid");
    stage.restart();
    stage.hear(stage.proposal("a", "Y", 0));
    stage.hear(stage.prepare("b", "Y", 0));
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
        1.0 hears proposal 1/0 by a: X@0
            check X@0
        1.0 X@0 is valid
            record 1/0 X@0
            say prepare 1/0 by d: X@0
        1.0 started again
            record 1/1 nothing
            round timer 1/1 at 5
            say roundChange 1/1 by d
        1.0 hears proposal 1/0 by a: Y@0
        1.0 hears prepare 1/0 by b: Y@0
      `),
    );
  });

  it("requests again the round that it had only requested before a crash, however often it crashes", () => {
    const stage = started("d");
    stage.at(3);
    stage.roundTimer(0);
    stage.restart();
    stage.restart();
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
        3.0 round timer 1/0
            record 1/1 nothing
            round timer 1/1 at 7
            say roundChange 1/1 by d
        3.0 started again
            record 1/1 nothing
            round timer 1/1 at 7
            say roundChange 1/1 by d
        3.0 started again
            record 1/1 nothing
            round timer 1/1 at 7
            say roundChange 1/1 by d
      `),
    );
  });

  it("joins at once when more than can be faulty request later rounds, at the lowest of those", () => {
    const stage = started("d");
    stage.hear(stage.roundChange("a", 3));
    stage.hear(stage.roundChange("b", 5));
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
        1.0 hears roundChange 1/3 by a
        1.0 hears roundChange 1/5 by b
            record 1/3 nothing
            round timer 1/3 at 17
            say roundChange 1/3 by d
      `),
    );
  });

  it("considers one proposal per round, and reports a validator that signed two", () => {
    const stage = started("d");
    stage.hear(stage.proposal("a", "X", 0));
    stage.hear(stage.proposal("a", "X", 0));
    stage.hear(stage.proposal("a", "Y", 0));
    stage.checked("X", 0, "invalid");
    stage.hear(stage.prepare("b", "Y", 0));
    stage.hear(stage.prepare("b", "X", 0));
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
        1.0 hears proposal 1/0 by a: X@0
            check X@0
        1.0 hears proposal 1/0 by a: X@0
        1.0 hears proposal 1/0 by a: Y@0
            double vote: proposal 1/0 by a: X@0 and proposal 1/0 by a: Y@0
        1.0 X@0 is invalid
        1.0 hears prepare 1/0 by b: Y@0
        1.0 hears prepare 1/0 by b: X@0
            double vote: prepare 1/0 by b: Y@0 and prepare 1/0 by b: X@0
      `),
    );
  });

  it("ignores results for another block or an earlier round", () => {
    const stage = started("d");
    stage.hear(stage.proposal("a", "X", 0));
    stage.checked("Y", 0, "valid");
    stage.at(3);
    stage.roundTimer(0);
    stage.checked("X", 0, "valid");
    expect(stage.transcript()).not.toContain("say prepare");
  });

  function started(self: string): Stage {
    const stage = aStage({ validators: 4, self });
    stage.at(1);
    stage.start();
    return stage;
  }
});
