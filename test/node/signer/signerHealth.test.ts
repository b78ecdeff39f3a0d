import { describe, expect, it } from "vitest";
import { REPEAT_MS } from "../../../src/node/signer/limits.ts";
import { createHealthKeeper } from "../../../src/node/signer/signerHealth.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { loggedLines } from "../../builders/loggedLines.ts";

function aKeeper() {
  const clock = createHandClock(1_000);
  const { logger, lines } = loggedLines();
  const parts = { url: "http://signer/", answerMs: 1_000, clock, logger: logger.child("consensus") };
  return { clock, lines, keeper: createHealthKeeper(parts) };
}

describe("the health of a remote signer", () => {
  it("is told at the first failure, now and then while it lasts, and at its end", () => {
    const { clock, lines, keeper } = aKeeper();
    keeper.failed("unreachable", "connect ECONNREFUSED");
    for (let request = 0; request < 100; request++) {
      clock.advanceBy(1_000);
      keeper.failed("unreachable", "connect ECONNREFUSED");
    }
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: "WARN", reason: "connect ECONNREFUSED", requests: 1 });
    expect(lines[0]?.message).toContain("neither proposes nor votes");
    expect(lines[0]?.message).toContain("/upcheck");
    clock.advanceBy(REPEAT_MS);
    keeper.failed("unknownKey", "it does not hold the key (status 404)");
    expect(lines[1]).toMatchObject({ level: "WARN", requests: 102 });
    expect(lines[1]?.message).toContain("/reload");
    expect(keeper.health).toMatchObject({
      url: "http://signer/",
      failure: { reason: "it does not hold the key (status 404)", requests: 102 },
    });
    keeper.works(5);
    expect(lines[2]).toMatchObject({ level: "INFO", requests: 102 });
    expect(keeper.health).toEqual({ url: "http://signer/", last: { ageMs: 0, tookMs: 5 } });
  });

  it("fails when rounds end before answers come, though no request lasts long enough to time out", () => {
    const { lines, keeper } = aKeeper();
    for (let round = 0; round < 4; round++) keeper.abandoned(240);
    expect(lines).toEqual([]);
    keeper.abandoned(240);
    expect(lines).toMatchObject([{ level: "WARN", reason: expect.stringContaining("later than the end") }]);
    keeper.works(3);
    keeper.abandoned(900);
    expect(keeper.health.failure).toBeUndefined();
  });

  it("is slow when an answer takes a quarter of the time allowed, and says so now and then", () => {
    const { clock, lines, keeper } = aKeeper();
    keeper.works(249);
    expect(lines).toEqual([]);
    for (let request = 0; request < 10; request++) keeper.works(600);
    expect(lines).toMatchObject([{ level: "WARN", tookMs: 600, longestMs: 1_000 }]);
    clock.advanceBy(REPEAT_MS);
    keeper.works(700);
    expect(lines).toHaveLength(2);
  });
});
