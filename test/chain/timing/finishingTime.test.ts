import { describe, expect, it } from "vitest";
import { FinishingTime } from "../../../src/chain/timing/finishingTime.ts";
import { generator } from "../../storage/random.ts";

describe("the estimate of the time to finish a block", () => {
  it("separates the two parts by noisy blocks of different sizes", () => {
    const finishing = new FinishingTime();
    const random = fractions(1);
    for (let block = 0; block < 200; block++) {
      const count = Math.floor(random() * 3_000);
      finishing.learn(count, 300 + count * 0.1 + random() * 100);
    }
    expect(finishing.fixedMs).toBeGreaterThan(250);
    expect(finishing.fixedMs).toBeLessThan(450);
    expect(finishing.eachMs).toBeGreaterThan(0.07);
    expect(finishing.eachMs).toBeLessThan(0.13);
  });

  it("does not become less certain of a transaction's cost during empty blocks", () => {
    const [idle, busy] = [new FinishingTime(), new FinishingTime()];
    for (const one of [idle, busy]) one.restore({ fixedMs: 40, eachMs: 0.1 });
    for (let block = 0; block < 1_000; block++) idle.learn(0, 40);
    for (let block = 0; block < 1_000; block++) busy.learn(1_000, 140);
    for (const one of [idle, busy]) one.learn(2_400, 1_500);
    expect(idle.eachMs).toBeLessThan(0.15);
    expect(busy.eachMs).toBeLessThan(0.15);
  });

  it("corrects a raised cost per transaction when small blocks turn out to be as late", () => {
    const finishing = new FinishingTime();
    finishing.restore({ fixedMs: 40, eachMs: 0.1 });
    finishing.learn(2_400, 40 + 240 + 300);
    const raisedMs = finishing.eachMs;
    for (let block = 0; block < 3; block++) finishing.learn(20, 40 + 2 + 300);
    expect(raisedMs).toBeGreaterThan(0.11);
    expect(finishing.eachMs - 0.1).toBeLessThan((raisedMs - 0.1) * 0.8);
  });

  it("learns no more from one block that took ten times as long than from one that took four times", () => {
    const [four, ten] = [new FinishingTime(), new FinishingTime()];
    for (const one of [four, ten]) one.restore({ fixedMs: 40, eachMs: 0.1 });
    four.learn(1_000, 4 * 140);
    ten.learn(1_000, 10 * 140);
    expect(ten).toMatchObject({ fixedMs: four.fixedMs, eachMs: four.eachMs });
  });

  it("keeps both parts within their bounds, whatever blocks take", () => {
    const finishing = new FinishingTime();
    const random = fractions(2);
    for (let block = 0; block < 2_000; block++) {
      const count = random() < 0.3 ? 0 : Math.floor(random() ** 4 * 20_000);
      const finishMs = random() ** 6 * 10_000;
      finishing.learn(count, finishMs);
      expect(finishing.fixedMs).toBeGreaterThanOrEqual(0);
      expect(finishing.fixedMs).toBeLessThanOrEqual(finishMs);
      expect(finishing.eachMs).toBeGreaterThan(0);
      expect(finishing.eachMs).toBeLessThan(11_000);
    }
  });
});

/** Random numbers from 0 to 1. */
function fractions(seed: number): () => number {
  const { below } = generator(seed);
  return () => below(1_000_000) / 1_000_000;
}
