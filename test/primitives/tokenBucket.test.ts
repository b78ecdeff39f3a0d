import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TokenBucket } from "../../src/primitives/tokenBucket.ts";

const aBucket = fc.record({
  capacity: fc.integer({ min: 1, max: 1_000 }),
  perMs: fc.double({ min: 0.01, max: 100, noNaN: true }),
  maxDebt: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1_000 })),
});

/** What happens to a bucket: time passes, or the clock is set back, and then some is spent, or given back. */
const uses = fc.array(
  fc.record({
    passedMs: fc.integer({ min: -10_000, max: 10_000 }),
    amount: fc.integer({ min: -500, max: 2_000 }),
  }),
  { maxLength: 50 },
);

describe("the token bucket", () => {
  it("is full at first, and never above its capacity or below its largest debt", () => {
    fc.assert(
      fc.property(aBucket, uses, (limits, happened) => {
        const bucket = new TokenBucket(limits, 0);
        expect(bucket.left).toBe(limits.capacity);
        let nowMs = 0;
        for (const { passedMs, amount } of happened) {
          nowMs += passedMs;
          const before = bucket.left;
          const left = bucket.refill(nowMs);
          expect(left).toBe(bucket.left);
          expect(left).toBeGreaterThanOrEqual(before);
          expect(left).toBeLessThanOrEqual(limits.capacity);
          bucket.spend(amount);
          expect(bucket.left).toBeLessThanOrEqual(limits.capacity);
          expect(bucket.left).toBeGreaterThanOrEqual(-limits.maxDebt);
        }
      }),
    );
  });

  it("allows no more than its capacity, its debt and its rate, however often it is used", () => {
    fc.assert(
      fc.property(aBucket, uses, (limits, happened) => {
        const bucket = new TokenBucket(limits, 0);
        let nowMs = 0;
        let spent = 0;
        for (const { passedMs, amount } of happened) {
          nowMs += Math.abs(passedMs);
          const wanted = Math.max(amount, 0);
          if (bucket.refill(nowMs) + limits.maxDebt < wanted) continue;
          bucket.spend(wanted);
          spent += wanted;
        }
        const allowed = limits.capacity + limits.maxDebt + nowMs * limits.perMs;
        expect(spent).toBeLessThanOrEqual(allowed * (1 + 1e-9));
      }),
    );
  });

  it("refills as much in many steps as in one", () => {
    const steps = fc.array(fc.integer({ min: 0, max: 1_000 }), { maxLength: 20 });
    fc.assert(
      fc.property(aBucket, steps, (limits, passedMs) => {
        const [often, once] = [new TokenBucket(limits, 0), new TokenBucket(limits, 0)];
        for (const bucket of [often, once]) bucket.spend(limits.capacity + limits.maxDebt);
        let nowMs = 0;
        for (const ms of passedMs) {
          nowMs += ms;
          often.refill(nowMs);
        }
        expect(often.refill(nowMs)).toBeCloseTo(once.refill(nowMs), 6);
      }),
    );
  });

  it("adds nothing when the clock is set back, and refills from there", () => {
    const bucket = new TokenBucket({ capacity: 100, perMs: 1, maxDebt: 0 }, 1_000_000);
    bucket.spend(80);
    expect(bucket.refill(0)).toBe(20);
    expect(bucket.refill(30)).toBe(50);
  });

  it("tells how long a debt lasts", () => {
    const bucket = new TokenBucket({ capacity: 10, perMs: 0.25, maxDebt: Number.POSITIVE_INFINITY }, 0);
    bucket.spend(15);
    expect(bucket.waitMs).toBe(20);
    expect(bucket.refill(20)).toBe(0);
    bucket.spend(-1_000);
    expect(bucket.left).toBe(10);
    expect(bucket.waitMs).toBeLessThanOrEqual(0);
  });
});
