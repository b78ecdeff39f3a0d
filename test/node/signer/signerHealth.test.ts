import { describe, expect, it } from "vitest";
import { FLAPPING_MS, REPEAT_MS } from "../../../src/node/signer/limits.ts";
import { SignerWatch } from "../../../src/node/signer/signerHealth.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { loggedLines } from "../../builders/loggedLines.ts";

function aKeeper() {
  const clock = createHandClock(1_000);
  const { logger, lines } = loggedLines();
  const parts = { url: "http://signer/", answerMs: 1_000, clock, logger: logger.child("consensus") };
  const keeper = new SignerWatch(parts);
  const fail = (times: number): void => {
    for (let time = 0; time < times; time++) keeper.failed("unreachable", "connect ECONNREFUSED");
  };
  return { clock, lines, keeper, fail };
}

describe("the health of a remote signer", () => {
  it("is told when three requests in a row have failed, now and then while that lasts, and at its end", () => {
    const { clock, lines, keeper, fail } = aKeeper();
    fail(2);
    expect(lines).toEqual([]);
    expect(keeper.health.failure).toBeUndefined();
    for (let second = 0; second < 100; second++) {
      fail(1);
      clock.advanceBy(1_000);
    }
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: "WARN", reason: "connect ECONNREFUSED", requests: 3 });
    expect(lines[0]?.message).toContain("neither proposes nor votes");
    expect(lines[0]?.message).toContain("/upcheck");
    clock.advanceBy(REPEAT_MS);
    keeper.failed("unknownKey", "it does not hold the key (status 404)");
    expect(lines[1]).toMatchObject({ level: "WARN", requests: 103 });
    expect(lines[1]?.message).toContain("/reload");
    expect(keeper.health).toMatchObject({
      url: "http://signer/",
      failure: { reason: "it does not hold the key (status 404)", requests: 103 },
    });
    keeper.works(5);
    expect(lines[2]).toMatchObject({ level: "INFO", requests: 103 });
    expect(keeper.health).toEqual({ url: "http://signer/", last: { ageMs: 0, tookMs: 5 }, isSlow: false });
  });

  it("says nothing of single failures, and of failures with signatures in between twice a minute", () => {
    const { clock, lines, keeper, fail } = aKeeper();
    for (let time = 0; time < 10; time++) {
      fail(2);
      keeper.works(5);
    }
    expect(lines).toEqual([]);
    for (let second = 0; second < 20; second++) {
      fail(5);
      keeper.works(5);
      clock.advanceBy(1_000);
    }
    expect(lines.map(({ level }) => level)).toEqual(["WARN", "INFO"]);
    clock.advanceBy(FLAPPING_MS);
    fail(3);
    expect(lines).toHaveLength(3);
  });

  it("fails when rounds end before answers come, though no request lasts long enough to time out", () => {
    const { lines, keeper } = aKeeper();
    for (let round = 0; round < 16; round++) keeper.abandoned(240);
    expect(lines).toEqual([]);
    keeper.abandoned(240);
    expect(lines).toMatchObject([{ level: "WARN", reason: expect.stringContaining("later than the end") }]);
    keeper.works(3);
    for (let round = 0; round < 16; round++) {
      keeper.abandoned(900);
      if (round % 3 === 0) keeper.works(3);
    }
    expect(keeper.health.failure).toBeUndefined();
  });

  it("is slow when answers take a quarter of the time allowed as a rule, and says so now and then", () => {
    const { clock, lines, keeper } = aKeeper();
    for (let request = 0; request < 20; request++) keeper.works(request === 9 ? 900 : 10);
    expect(lines).toEqual([]);
    expect(keeper.health.isSlow).toBe(false);
    for (let request = 0; request < 20; request++) keeper.works(600);
    expect(lines).toMatchObject([{ level: "WARN", tookMs: expect.any(Number), longestMs: 1_000 }]);
    expect(keeper.health.isSlow).toBe(true);
    clock.advanceBy(REPEAT_MS);
    keeper.works(600);
    expect(lines).toHaveLength(2);
  });
});
