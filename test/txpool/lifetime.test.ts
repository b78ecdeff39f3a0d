import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toDigits } from "../../src/primitives/hex.ts";
import type { TransactionOrigin } from "../../src/txpool/entry.ts";
import type { Selection } from "../../src/txpool/ordering.ts";
import { effectivePriorityFee, type SentTransaction } from "../../src/types/transaction.ts";
import { aPool, type PoolInHand } from "../builders/aPool.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";
import { TEST_HANG_MS } from "../hang.ts";

/* Random actions in random order, over many blocks. A failure prints fast-check's seed; IBEX_SEED repeats it. */

/** Number of histories, if set (npm run test:long), and the first seed. */
const { IBEX_POOL_LIVES, IBEX_SEED } = process.env;

function runs(usual: number): fc.Parameters<unknown> {
  return {
    numRuns: IBEX_POOL_LIVES === undefined ? usual : Number(IBEX_POOL_LIVES),
    ...(IBEX_SEED !== undefined && { seed: Number(IBEX_SEED) }),
  };
}

const TIMEOUT = { timeout: IBEX_POOL_LIVES === undefined ? TEST_HANG_MS : 1_800_000 };

const SENDERS = 5;
const LIMITS = { maxTransactions: 12, maxBytes: 2500, maxFutureBySender: 6, retentionMs: 50 };
const OPEN = { minGasPriceWei: 0n, minPriorityFeeWei: 0n };
const LARGE = new Uint8Array(400);

type Action =
  | { kind: "add"; who: number; ahead: number; price: number; origin: TransactionOrigin; isLarge: boolean }
  | { kind: "block"; size: number; skips: number }
  | { kind: "foreignBlock"; who: number; count: number }
  | { kind: "found invalid"; which: number }
  | { kind: "baseFee"; wei: number }
  | { kind: "wait"; ms: number }
  | { kind: "permit"; who: number; isPermitted: boolean };

const who = fc.nat({ max: SENDERS - 1 });
/** In hundreds of wei; odd ones with fee caps. */
const price = fc.integer({ min: 10, max: 30 }).map((hundreds) => hundreds * 100);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({
      kind: fc.constant("add" as const),
      who,
      ahead: fc.integer({ min: -2, max: 7 }),
      price,
      origin: fc.constantFrom<TransactionOrigin>("local", "remote", "remote"),
      isLarge: fc.nat({ max: 9 }).map((n) => n === 0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("block" as const),
      size: fc.integer({ min: 0, max: 5 }),
      skips: fc.nat({ max: 7 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("foreignBlock" as const),
      who,
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("found invalid" as const), which: fc.nat({ max: 11 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("baseFee" as const), wei: fc.constantFrom(0, 1200, 2500) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(5, 20, 60) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("permit" as const), who, isPermitted: fc.boolean() }),
  },
);
const histories = fc.array(action, { minLength: 1, maxLength: 150, size: "max" });

const made = new Map<string, SentTransaction>();

function transfer(from: number, nonce: bigint, gasPrice: number, isLarge = false): SentTransaction {
  const name = `${from}/${nonce}/${gasPrice}/${isLarge}`;
  const known = made.get(name);
  if (known !== undefined) return known;
  const { privateKey } = account(from);
  const cap = BigInt(gasPrice);
  const transaction = aTransaction({
    privateKey,
    nonce,
    ...(isLarge && { data: LARGE }),
    ...(gasPrice % 200 === 0
      ? { gasPrice: cap }
      : { type: 2 as const, maxFeePerGas: cap, maxPriorityFeePerGas: cap / 2n }),
  });
  made.set(name, transaction);
  return transaction;
}

/** A pool and its chain. */
interface Harness {
  readonly inHand: PoolInHand;
  readonly permitted: Set<string>;
  /** Hashes of all transactions included so far. */
  readonly mined: Set<string>;
}

function aHarness(limits: Partial<typeof LIMITS> = LIMITS): Harness {
  const permitted = new Set(Array.from({ length: SENDERS }, (_, index) => keyOf(index)));
  const inHand = aPool({
    limits: { ...limits, blockFloors: OPEN },
    parts: { isSenderPermitted: (sender) => permitted.has(toDigits(sender)) },
  });
  return { inHand, permitted, mined: new Set() };
}

function isFrom({ sender }: SentTransaction, index: number): boolean {
  return toDigits(sender) === keyOf(index);
}

function keyOf(index: number): string {
  return toDigits(account(index).address);
}

/**
 * Builds a block as execution does: some transactions do not fit, and then their senders are skipped for this block.
 */
function draw(selection: Selection, { size, skips }: { readonly size: number; readonly skips: number }) {
  const block: SentTransaction[] = [];
  for (let seen = 0; block.length < size; seen++) {
    const next = selection.next();
    if (next === undefined) break;
    if (((skips >> (seen % 3)) & 1) === 1) selection.skipSender();
    else block.push(next);
  }
  return block;
}

function mine({ inHand, mined }: Harness, block: readonly SentTransaction[]): void {
  for (const { hash } of block) {
    expect(mined.has(toDigits(hash)), "included twice").toBe(false);
    mined.add(toDigits(hash));
  }
  inHand.mine(...block);
}

function perform(step: Action, harness: Harness): void {
  const { pool, head, wait } = harness.inHand;
  switch (step.kind) {
    case "add": {
      const { address } = account(step.who);
      const next = pool.nextNonce(address);
      const nonce = next + BigInt(step.ahead);
      const transaction = transfer(step.who, nonce < 0n ? 0n : nonce, step.price, step.isLarge);
      const isReplacement = [...pool.entries()].some(
        (entry) => entry.transaction.nonce === transaction.nonce && isFrom(entry.transaction, step.who),
      );
      const result = pool.add(transaction, step.origin);
      if (!result.ok) return;
      expect(transaction.nonce).toBeGreaterThanOrEqual(head.nonce(address));
      if (!isReplacement) expect(transaction.nonce).toBeLessThan(next + BigInt(LIMITS.maxFutureBySender));
      return;
    }
    case "block": {
      const block = draw(pool.select(head.nextBaseFeePerGas), step);
      expectValidBlock(block, harness);
      mine(harness, block);
      return;
    }
    case "foreignBlock": {
      const first = head.nonce(account(step.who).address);
      mine(
        harness,
        Array.from({ length: step.count }, (_, index) => transfer(step.who, first + BigInt(index), 77)),
      );
      return;
    }
    case "found invalid": {
      const victim = [...pool.entries()][step.which];
      if (victim !== undefined) pool.drop(victim.transaction.hash, "found invalid");
      return;
    }
    case "baseFee": {
      head.nextBaseFeePerGas = BigInt(step.wei);
      pool.headChanged({ added: [], removed: [] });
      return;
    }
    case "wait": {
      wait(step.ms);
      pool.expire();
      return;
    }
    case "permit": {
      if (step.isPermitted) harness.permitted.add(keyOf(step.who));
      else harness.permitted.delete(keyOf(step.who));
      return;
    }
  }
}

/** Each sender's nonces continue the chain's without a gap; all pay the base fee; all senders are permitted. */
function expectValidBlock(block: readonly SentTransaction[], { inHand: { head }, permitted }: Harness): void {
  for (let index = 0; index < SENDERS; index++) {
    const { address } = account(index);
    const nonces = block.filter((each) => isFrom(each, index)).map(({ nonce }) => nonce);
    const first = head.nonce(address);
    expect(nonces).toEqual(nonces.map((_, at) => first + BigInt(at)));
  }
  for (const transaction of block) {
    expect(effectivePriorityFee(transaction, head.nextBaseFeePerGas)).toBeGreaterThanOrEqual(0n);
    expect(permitted.has(toDigits(transaction.sender))).toBe(true);
  }
}

/**
 * Checks limits, totals and nonce runs after every step; collects violations first, since single assertions are slow.
 */
function expectInvariants({ inHand: { pool, head } }: Harness): void {
  const violations: string[] = [];
  const must = (isTrue: boolean, what: string): void => void (isTrue || violations.push(what));
  const entries = [...pool.entries()];
  const { pending, queued, bytes } = pool.statistics;
  must(entries.length === pending + queued, "the statistics match the entries");
  must(entries.length <= LIMITS.maxTransactions, "the count is within its limit");
  must(
    bytes === entries.reduce((sum, { transaction }) => sum + transaction.raw.length, 0),
    "the byte count is exact",
  );
  must(bytes <= LIMITS.maxBytes, "bytes are within their limit");
  for (let index = 0; index < SENDERS; index++) {
    const { address } = account(index);
    const first = head.nonce(address);
    const own = entries.filter(({ transaction }) => isFrom(transaction, index));
    const nonces = new Set(own.map(({ transaction }) => transaction.nonce));
    must(nonces.size === own.length, "a nonce has one entry");
    let next = first;
    while (nonces.has(next)) next++;
    must(pool.nextNonce(address) === next, "the next nonce is the end of the unbroken run");
    must(
      own.every(({ transaction }) => transaction.nonce >= first),
      "no used nonce stays",
    );
  }
  if (violations.length > 0) expect(violations).toEqual([]);
}

describe("a pool over many blocks", TIMEOUT, () => {
  it("keeps its limits, and yields blocks without gaps or duplicates", () => {
    fc.assert(
      fc.property(histories, (steps) => {
        const harness = aHarness();
        for (const step of steps) {
          perform(step, harness);
          expectInvariants(harness);
        }
      }),
      runs(60),
    );
  });

  it("yields every pending transaction exactly once over the following blocks", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(who, fc.nat({ max: 5 }), price), { maxLength: 60, size: "max" }),
        (list) => {
          const harness = aHarness({ maxFutureBySender: 6 });
          const { pool, head } = harness.inHand;
          head.nextBaseFeePerGas = 0n;
          for (const [from, nonce, gasPrice] of list)
            pool.add(transfer(from, BigInt(nonce), gasPrice), "remote");
          const { pending, queued } = pool.statistics;
          let blocks = 0;
          for (; pool.statistics.pending > 0; blocks++)
            mine(harness, draw(pool.select(0n), { size: 3, skips: 0 }));
          expect(harness.mined.size).toBe(pending);
          expect(blocks).toBe(Math.ceil(pending / 3));
          expect(pool.statistics).toMatchObject({ pending: 0, queued });
        },
      ),
      runs(80),
    );
  });
});

describe("no valid and well-paying transaction starves", TIMEOUT, () => {
  /** Higher than any other price, whatever the base fee. */
  const CHAMPION = 90_000;

  it("a run that outbids all others is included in as many blocks as it fills, whatever happens", () => {
    const crowd = histories.map((steps) =>
      steps.map((step) =>
        step.kind === "add"
          ? { ...step, who: 1 + (step.who % (SENDERS - 1)), origin: "remote" as const }
          : step.kind === "foreignBlock" || step.kind === "permit"
            ? { kind: "wait" as const, ms: 0 }
            : step.kind === "found invalid" || step.kind === "block"
              ? { ...step, kind: "baseFee" as const, wei: 1200 }
              : step,
      ),
    );
    const blockSize = fc.integer({ min: 1, max: 3 });
    fc.assert(
      fc.property(
        crowd,
        fc.nat({ max: 149 }),
        fc.integer({ min: 1, max: 5 }),
        blockSize,
        (steps, at, run, size) => {
          const harness = aHarness({ ...LIMITS, retentionMs: Number.POSITIVE_INFINITY });
          const { pool, head } = harness.inHand;
          const champions = Array.from({ length: run }, (_, nonce) =>
            transfer(0, BigInt(nonce), CHAMPION + 1000 * nonce),
          );
          const arriveAt = Math.min(at, steps.length - 1);
          let blocksSince = 0;
          for (const [index, step] of steps.entries()) {
            if (index === arriveAt) for (const each of champions) pool.add(each, "remote");
            perform(step, harness);
            if (index % 4 !== 3) continue;
            mine(harness, draw(pool.select(head.nextBaseFeePerGas), { size, skips: 0 }));
            if (index >= arriveAt) blocksSince++;
            const in_ = champions.filter(({ hash }) => harness.mined.has(toDigits(hash))).length;
            expect(in_).toBe(Math.min(run, blocksSince * size));
          }
        },
      ),
      runs(80),
    );
  });

  it("among equals the first to arrive is included first, however many follow", () => {
    fc.assert(
      fc.property(
        fc.array(who, { minLength: 1, maxLength: 60, size: "max" }),
        fc.integer({ min: 1, max: 4 }),
        (arrivals, size) => {
          const harness = aHarness({ maxFutureBySender: 100 });
          const { pool } = harness.inHand;
          const order: SentTransaction[] = [];
          for (const [index, from] of arrivals.entries()) {
            const transaction = transfer(from, pool.nextNonce(account(from).address), 2000);
            pool.add(transaction, "remote");
            order.push(transaction);
            // Fewer blocks than arrivals: the pool grows, and the oldest is still included first.
            if (index % (size + 1) === size) mine(harness, draw(pool.select(1000n), { size, skips: 0 }));
            const waiting = order.filter(({ hash }) => !harness.mined.has(toDigits(hash)));
            const oldest = waiting[0];
            if (oldest === undefined) continue;
            expect(pool.select(1000n).next()).toEqual(oldest);
          }
        },
      ),
      runs(80),
    );
  });
});
