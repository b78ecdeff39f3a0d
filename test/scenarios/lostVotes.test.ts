import { describe, expect, it } from "vitest";
import { forgottenAt, nothingAbove } from "../../src/ibft/lostVotes.ts";
import { aStage, type Stage, script } from "./stage.ts";

/** Four validators; the chain has three blocks, so height 4 is being decided and second 4 is due. */
function aRunningNetwork(self = "b", startedAt = 3.5): Stage {
  const stage = aStage({ validators: 4, self });
  stage.growChain(3);
  stage.at(startedAt);
  return stage;
}

/** Blocks of one second each, until the given height. */
function advance(stage: Stage, from: number, to: number): void {
  for (let number = from; number <= to; number++) {
    stage.at(number + 0.2);
    stage.headAdvanced(`B${number}`);
  }
}

const isSilent = ({ state }: Stage): boolean => state.height === undefined;

describe("a validator without a record of its votes", () => {
  it("is silent until the head is past the height in question and newer than its start", () => {
    const stage = aRunningNetwork();
    stage.start();
    stage.hear(stage.proposal("b", "X", 0));
    advance(stage, 4, 8);
    expect(stage.transcript()).not.toContain("say");
    expect(isSilent(stage)).toBe(true);
    advance(stage, 9, 9);
    expect(isSilent(stage)).toBe(false);
    expect(stage.transcript()).toBe(
      script(`
        3.5 started
            record 0/0 nothing, silent (missing) up to 4 and to second 9
        3.5 hears proposal 4/0 by b: X@0
        4.2 head B4
        5.2 head B5
        6.2 head B6
        7.2 head B7
        8.2 head B8
        9.2 head B9
            record 9/0 nothing
            round timer 10/0 at 11.2
            block timer 10/0 at 10
      `),
    );
  });

  it("is silent past its height even where blocks are ahead of its clock", () => {
    const stage = aRunningNetwork("b", -60);
    stage.start();
    expect(isSilent(stage)).toBe(true);
    stage.headAdvanced("B4");
    expect(isSilent(stage)).toBe(false);
  });

  it("is silent no longer for a restart, and not for less time either", () => {
    const stage = aRunningNetwork();
    stage.start();
    advance(stage, 4, 7);
    stage.restart();
    expect(isSilent(stage)).toBe(true);
    advance(stage, 8, 9);
    expect(isSilent(stage)).toBe(false);
  });

  it("takes part at once in a network that begins, and if its votes were forgotten on purpose", () => {
    const atGenesis = aStage({ validators: 4, self: "b" });
    atGenesis.at(20);
    atGenesis.start();
    expect(isSilent(atGenesis)).toBe(false);
    atGenesis.headAdvanced("X");
    expect(isSilent(atGenesis)).toBe(false);

    const forgotten = aRunningNetwork();
    forgotten.start(forgottenAt(4n));
    expect(isSilent(forgotten)).toBe(false);
    forgotten.hear(forgotten.prepare("b", "X", 0));
    expect(isSilent(forgotten)).toBe(false);
    forgotten.headAdvanced("X", true);
    expect(isSilent(forgotten)).toBe(false);
  });

  it("takes part at once when it is the only validator", () => {
    const stage = aStage({ validators: 1, self: "a" });
    stage.growChain(3);
    stage.at(3.5);
    stage.start();
    expect(isSilent(stage)).toBe(false);
  });

  it("is silent in an old network although its own chain begins", () => {
    const stage = aStage({ validators: 4, self: "b" });
    stage.at(120);
    stage.start();
    stage.headAdvanced("B1");
    expect(stage.transcript()).toContain("silent (missing) up to 2 and to second 125");
    expect(isSilent(stage)).toBe(true);
  });
});

describe("a validator whose record is old", () => {
  it("is silent when a block above the record has its seal, at the start or later", () => {
    const atStart = aRunningNetwork();
    atStart.startSealedAbove(nothingAbove(1n));
    expect(atStart.transcript()).toContain("silent (old) up to 4 and to second 9");

    const later = aRunningNetwork();
    later.start(nothingAbove(3n));
    later.headAdvanced("B4", true);
    expect(later.transcript()).toContain("silent (old) up to 5 and to second 9");
    expect(isSilent(later)).toBe(true);
  });

  it("takes part when it was only away: blocks without its seal tell nothing", () => {
    const stage = aRunningNetwork();
    stage.start(nothingAbove(1n));
    stage.headAdvanced("B4");
    expect(isSilent(stage)).toBe(false);
  });

  it.each([
    ["a Prepare", (stage: Stage) => stage.prepare("b", "X", 0)],
    [
      "a Prepare in a certificate",
      (stage: Stage) => stage.roundChange("c", 1, stage.prepared("abc", "X", 0)),
    ],
    [
      "its request in a certificate",
      (stage: Stage) =>
        stage.proposal(
          "c",
          "X",
          2,
          ["b", "c", "d"].map((v) => stage.roundChange(v, 2)),
        ),
    ],
  ])("is silent when it hears %s of its own that the record cannot explain", (_, messageOf) => {
    const stage = aRunningNetwork();
    stage.start(nothingAbove(3n));
    expect(isSilent(stage)).toBe(false);
    stage.hear(messageOf(stage));
    expect(stage.transcript()).toContain("silent (old) up to 4 and to second 9");
    expect(isSilent(stage)).toBe(true);
  });

  it("is not held up by what it said before and others repeat", () => {
    const stage = aRunningNetwork("a");
    stage.start(nothingAbove(3n));
    stage.hear(stage.proposal("b", "X", 0));
    const before = stage.transcript().split("\n").length;
    stage.roundTimer(0);
    expect(stage.transcript().split("\n").length).toBeGreaterThan(before);
    stage.hear(stage.roundChange("a", 1));
    stage.hear(stage.roundChange("c", 1, stage.prepared("dbc", "X", 0)));
    expect(isSilent(stage)).toBe(false);
    expect(stage.transcript()).not.toContain("silent");
  });
});

describe("a validator whose key signs elsewhere", () => {
  it("is silent for as long as it hears of it, and says what it is about", () => {
    const stage = aRunningNetwork();
    stage.start(nothingAbove(3n));
    advance(stage, 4, 9);
    stage.hear(stage.prepare("b", "X", 0));
    expect(stage.transcript()).toContain("silent (ownKey) up to 10 and to second 20");
    advance(stage, 10, 19);
    expect(isSilent(stage)).toBe(true);
    stage.at(20.2);
    stage.headAdvanced("B20", true);
    expect(stage.transcript()).toContain("silent (ownKey) up to 21 and to second 31");
    advance(stage, 21, 31);
    expect(isSilent(stage)).toBe(false);
  });

  it("commits a block that is decided already", () => {
    const stage = aRunningNetwork();
    stage.start(nothingAbove(3n));
    const [proposer = "a"] = ["a", "b", "c", "d"];
    stage.block("X", 0);
    for (const v of ["a", "c", "d"]) stage.hear(stage.commit(v, "X", 0));
    stage.hear(stage.proposal(proposer, "X", 0));
    expect(stage.transcript()).not.toContain("silent");
  });
});
