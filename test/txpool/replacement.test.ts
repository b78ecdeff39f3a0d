import { describe, expect, it } from "vitest";
import { mayReplace, priceBumpPercent } from "../../src/txpool/replacement.ts";
import { aPool } from "../builders/aPool.ts";
import { aTransaction } from "../builders/aTransaction.ts";

const legacy = (gasPrice: bigint) => aTransaction({ gasPrice });
const capped = (maxPriorityFeePerGas: bigint, maxFeePerGas: bigint) =>
  aTransaction({ type: 2, maxPriorityFeePerGas, maxFeePerGas });

describe("the price bump of a replacement", () => {
  it.each([
    ["is 10 % by default", { configuredPercent: undefined, isZeroBaseFee: false, minGasPriceWei: 1000n }, 10],
    [
      "is zero where the base fee is fixed at zero",
      { configuredPercent: undefined, isZeroBaseFee: true, minGasPriceWei: 1000n },
      0,
    ],
    [
      "is zero where gas may be free",
      { configuredPercent: undefined, isZeroBaseFee: false, minGasPriceWei: 0n },
      0,
    ],
    [
      "is the operator's where configured",
      { configuredPercent: 25, isZeroBaseFee: true, minGasPriceWei: 0n },
      25,
    ],
  ])("%s", (_, config, expected) => {
    expect(priceBumpPercent(config)).toBe(expected);
  });
});

describe("mayReplace", () => {
  it.each([
    ["two gas prices: one wei short of the bump", legacy(1000n), legacy(1099n), 10, false],
    ["two gas prices: the bump exactly", legacy(1000n), legacy(1100n), 10, true],
    ["two gas prices: equal, bump 0", legacy(1000n), legacy(1000n), 0, true],
    ["two gas prices: lower, bump 0", legacy(1000n), legacy(999n), 0, false],
    ["two gas prices: free for free, bump 0", legacy(0n), legacy(0n), 0, true],
    ["fee caps: price and tip raised", capped(100n, 5000n), capped(250n, 5000n), 10, true],
    ["fee caps: price raised too little", capped(100n, 5000n), capped(150n, 5000n), 10, false],
    ["fee caps: a higher cap that changes nothing paid", capped(100n, 5000n), capped(100n, 9000n), 10, false],
    ["fee caps: price as before, tip bound by the cap", capped(100n, 1100n), capped(500n, 1100n), 10, false],
    ["gas price over fee caps, raised", capped(100n, 5000n), legacy(1210n), 10, true],
    ["gas price over fee caps, not raised", capped(100n, 5000n), legacy(1209n), 10, false],
    ["fee caps over gas price, raised", legacy(1000n), capped(100n, 1100n), 10, true],
    ["fee caps over gas price, not raised", legacy(1000n), capped(99n, 1100n), 10, false],
  ])("%s", (_, existing, replacement, bumpPercent, expected) => {
    expect(mayReplace(existing, replacement, { bumpPercent, baseFeePerGas: 1000n })).toBe(expected);
  });
});

describe("replacement in the pool", () => {
  it("replaces the old entry, and reports both", () => {
    const { pool, events } = aPool();
    const [old, next, better] = [legacy(2000n), aTransaction({ nonce: 1n }), legacy(2200n)];
    for (const transaction of [old, next, better]) pool.add(transaction, "local");
    expect(pool.get(old.hash)).toBeUndefined();
    expect(pool.statistics).toMatchObject({
      pending: 2,
      queued: 0,
      bytes: next.raw.length + better.raw.length,
    });
    expect(events.slice(2).map((event) => event.split(" ")[0])).toEqual(["dropped", "added"]);
    expect(pool.select(1000n).next()?.hash).toEqual(better.hash);
  });

  it("replaces a queued one as well", () => {
    const { pool } = aPool();
    const old = aTransaction({ nonce: 5n, gasPrice: 2000n });
    const better = aTransaction({ nonce: 5n, gasPrice: 3000n });
    pool.add(old, "local");
    expect(pool.add(better, "local").ok).toBe(true);
    expect([...pool.entries()].map(({ transaction }) => transaction.hash)).toEqual([better.hash]);
  });

  it("lets an equal price replace where gas is free", () => {
    const { pool } = aPool({ rules: { isZeroBaseFee: true, isFreeFromStart: true } });
    pool.add(aTransaction({ gasPrice: 0n, value: 1n }), "local");
    expect(pool.add(aTransaction({ gasPrice: 0n, value: 2n }), "local").ok).toBe(true);
  });
});
