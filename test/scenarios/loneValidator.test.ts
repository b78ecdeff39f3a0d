import { describe, expect, it } from "vitest";
import { aStage, script } from "./stage.ts";

describe("a lone validator", () => {
  it("proposes, seals and commits in one step, the vote log entry first", () => {
    const stage = aStage({ validators: 1, self: "a" });
    stage.start();
    stage.at(1);
    stage.blockTimer(0);
    stage.at(1.2);
    stage.built("X", 0);
    stage.at(1.4);
    stage.headAdvanced("X");
    expect(stage.transcript()).toBe(
      script(`
        0.0 started
            round timer 1/0 at 2
            block timer 1/0 at 1
        1.0 block timer 1/0
            build 1/0 stamped 1
        1.2 built X@0
            record 1/0 X@0, prepared X@0
            say proposal 1/0 by a: X@0
            say commit 1/0 by a: X@0
            commit X@0 sealed by a
        1.4 head X
            round timer 2/0 at 3.4
            block timer 2/0 at 2
      `),
    );
  });

  it("builds at once, with the nearest second as timestamp, when the chain was stalled", () => {
    const stage = aStage({ validators: 1, self: "a" });
    stage.at(7.6);
    stage.start();
    expect(stage.transcript()).toBe(
      script(`
        7.6 started
            round timer 1/0 at 9.6
            build 1/0 stamped 8
      `),
    );
  });

  it("continues in the next round when a block comes too late, and ignores the late one", () => {
    const stage = aStage({ validators: 1, self: "a" });
    stage.at(7.6);
    stage.start();
    stage.at(9.6);
    stage.roundTimer(0);
    stage.at(9.7);
    stage.built("X", 0);
    stage.at(9.9);
    stage.built("Y", 1);
    expect(stage.transcript()).toBe(
      script(`
        7.6 started
            round timer 1/0 at 9.6
            build 1/0 stamped 8
        9.6 round timer 1/0
            record 1/1 nothing
            round timer 1/1 at 13.6
            say roundChange 1/1 by a
            build 1/1 stamped 9
        9.7 built X@0
        9.9 built Y@1
            record 1/1 Y@1, prepared Y@1
            say proposal 1/1 by a: Y@1 as asked by a
            say commit 1/1 by a: Y@1
            commit Y@1 sealed by a
      `),
    );
  });

  it("proposes the same block in the next round after a crash before the commit", () => {
    const stage = aStage({ validators: 1, self: "a" });
    stage.at(1);
    stage.start();
    stage.built("X", 0);
    stage.at(3.5);
    stage.restart();
    stage.checked("X", 1, "valid");
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
            build 1/0 stamped 1
        1.0 built X@0
            record 1/0 X@0, prepared X@0
            say proposal 1/0 by a: X@0
            say commit 1/0 by a: X@0
            commit X@0 sealed by a
        3.5 started again
            record 1/1 X@1, prepared X@0
            round timer 1/1 at 7.5
            say roundChange 1/1 by a, prepared X@0
            say proposal 1/1 by a: X@1 as asked by a
            check X@1
        3.5 X@1 is valid
            record 1/1 X@1, prepared X@1
            say commit 1/1 by a: X@1
            commit X@1 sealed by a
      `),
    );
  });

  it("requests a slow commit again, and nothing else", () => {
    const stage = aStage({ validators: 1, self: "a" });
    stage.at(1);
    stage.start();
    stage.built("X", 0);
    stage.at(3);
    stage.roundTimer(0);
    stage.at(3.1);
    stage.headAdvanced("X");
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
            build 1/0 stamped 1
        1.0 built X@0
            record 1/0 X@0, prepared X@0
            say proposal 1/0 by a: X@0
            say commit 1/0 by a: X@0
            commit X@0 sealed by a
        3.0 round timer 1/0
            commit X@0 sealed by a
            round timer 1/0 at 5
        3.1 head X
            round timer 2/0 at 5.1
            build 2/0 stamped 3
      `),
    );
  });

  it("waits for the period in a later round too, when rounds are shorter than the period", () => {
    const stage = aStage({ validators: 1, self: "a", blockPeriodSeconds: 5, requestTimeoutSeconds: 2 });
    stage.start();
    stage.at(2);
    stage.roundTimer(0);
    stage.at(5);
    stage.blockTimer(0);
    stage.blockTimer(1);
    expect(stage.transcript()).toBe(
      script(`
        0.0 started
            round timer 1/0 at 2
            block timer 1/0 at 5
        2.0 round timer 1/0
            record 1/1 nothing
            round timer 1/1 at 6
            say roundChange 1/1 by a
            block timer 1/1 at 5
        5.0 block timer 1/0
        5.0 block timer 1/1
            build 1/1 stamped 5
      `),
    );
  });

  it("keeps a built block until it may be proposed, after its clock was set back", () => {
    const stage = aStage({ validators: 1, self: "a" });
    stage.start();
    stage.at(1);
    stage.blockTimer(0);
    stage.at(0.8);
    stage.built("X", 0);
    stage.at(1);
    stage.blockTimer(0);
    expect(stage.transcript()).toBe(
      script(`
        0.0 started
            round timer 1/0 at 2
            block timer 1/0 at 1
        1.0 block timer 1/0
            build 1/0 stamped 1
        0.8 built X@0
            block timer 1/0 at 1
        1.0 block timer 1/0
            record 1/0 X@0, prepared X@0
            say proposal 1/0 by a: X@0
            say commit 1/0 by a: X@0
            commit X@0 sealed by a
      `),
    );
  });

  it("sends nothing while paused, and starts the height anew when resumed", () => {
    const stage = aStage({ validators: 1, self: "a" });
    stage.at(1);
    stage.start();
    stage.pause();
    stage.built("X", 0);
    stage.roundTimer(0);
    stage.at(60);
    stage.resume();
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
            build 1/0 stamped 1
        1.0 paused
        1.0 built X@0
        1.0 round timer 1/0
        60.0 resumed
            round timer 1/0 at 62
            build 1/0 stamped 60
      `),
    );
  });

  it("commits what is decided even while paused", () => {
    const stage = aStage({ validators: 1, self: "a" });
    stage.at(1);
    stage.start();
    stage.built("X", 0);
    stage.pause();
    stage.at(3);
    stage.roundTimer(0);
    stage.resume();
    stage.headAdvanced("X");
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
            round timer 1/0 at 3
            build 1/0 stamped 1
        1.0 built X@0
            record 1/0 X@0, prepared X@0
            say proposal 1/0 by a: X@0
            say commit 1/0 by a: X@0
            commit X@0 sealed by a
        1.0 paused
        3.0 round timer 1/0
            commit X@0 sealed by a
            round timer 1/0 at 5
        3.0 resumed
        3.0 head X
            round timer 2/0 at 5
            build 2/0 stamped 3
      `),
    );
  });

  it("ignores heads that are not new", () => {
    const stage = aStage({ validators: 1, self: "a" });
    stage.start();
    stage.headAdvanced("X");
    const before = stage.state;
    stage.repeatHead();
    expect(stage.state).toEqual(before);
  });
});

describe("a follower", () => {
  it("follows heads and sends nothing", () => {
    const stage = aStage({ validators: 1, self: "b" });
    stage.at(1);
    stage.start();
    stage.hear(stage.proposal("a", "X", 0));
    stage.roundTimer(0);
    stage.headAdvanced("X");
    expect(stage.transcript()).toBe(
      script(`
        1.0 started
        1.0 hears proposal 1/0 by a: X@0
        1.0 round timer 1/0
        1.0 head X
            record 1/0 nothing
      `),
    );
  });
});
