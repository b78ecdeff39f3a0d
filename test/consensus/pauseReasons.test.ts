import { describe, expect, it } from "vitest";
import { PauseReasons } from "../../src/consensus/pauseReasons.ts";

const engine = { pause: () => undefined, resume: () => undefined };

describe("blocks for development", () => {
  it("are halted by a full disk first, then by the operator", () => {
    const reasons = new PauseReasons(engine);
    reasons.pause("operator");
    expect(reasons.haltOfDevelopment).toContain("miner_stop");
    reasons.pause("diskAlmostFull");
    expect(reasons.haltOfDevelopment).toBe("the disk is almost full");
    reasons.resume("diskAlmostFull");
    reasons.resume("operator");
    expect(reasons.haltOfDevelopment).toBeUndefined();
  });

  it("are made where consensus is paused because they are, or waits for its peers", () => {
    const reasons = new PauseReasons(engine);
    for (const reason of ["development", "catchingUp", "lostEnd", "listening"] as const)
      reasons.pause(reason);
    expect(reasons.haltOfDevelopment).toBeUndefined();
  });
});
