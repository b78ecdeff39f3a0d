import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toDigits } from "../../src/primitives/hex.ts";
import type { TransactionOrigin } from "../../src/txpool/entry.ts";
import type { Selection } from "../../src/txpool/ordering.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aPool, type PoolInHand } from "../builders/aPool.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account, accountFromSeed } from "../builders/testAccounts.ts";
import { casesOf } from "../thorough.ts";
import { NaivePool } from "./naivePool.ts";

const LIMITS = { maxTransactions: 6, maxFutureBySender: 4 };

/** The naive pool has no floors. */
const open = {
  limits: { ...LIMITS, blockFloors: { minGasPriceWei: 0n, minPriorityFeeWei: 0n }, priceBumpPercent: 10 },
};

type Action =
  | {
      readonly kind: "add";
      readonly who: number;
      readonly ahead: number;
      readonly price: number;
      readonly origin: TransactionOrigin;
    }
  | { readonly kind: "drop"; readonly which: number }
  | { readonly kind: "mine"; readonly count: number }
  | { readonly kind: "mineForeign"; readonly who: number }
  | { readonly kind: "rewind" }
  | { readonly kind: "baseFee"; readonly wei: number };

const who = fc.nat({ max: 4 });
const price = fc.integer({ min: 10, max: 30 }).map((hundreds) => hundreds * 100);
const addition = fc.record({
  kind: fc.constant("add" as const),
  who,
  ahead: fc.integer({ min: -4, max: 5 }),
  price,
  origin: fc.constantFrom<TransactionOrigin>("local", "remote", "remote"),
});
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 24, arbitrary: addition },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("drop" as const), which: fc.nat({ max: 11 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("mine" as const), count: fc.nat({ max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("mineForeign" as const), who }) },
  { weight: 1, arbitrary: fc.constant({ kind: "rewind" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("baseFee" as const),
      wei: fc.constantFrom(0, 1000, 1500, 2500),
    }),
  },
);

/** "max": the library's default lists of ten steps would hardly fill a pool. */
const actions = fc.array(action, { minLength: 1, maxLength: 100, size: "max" });

const made = new Map<string, SentTransaction>();

/** Even hundreds have fee caps with half of it as the tip, odd ones a gas price. */
function transfer(from: number, nonce: bigint, gasPrice: number): SentTransaction {
  const name = `${from}/${nonce}/${gasPrice}`;
  const known = made.get(name);
  if (known !== undefined) return known;
  const { privateKey } = account(from);
  const cap = BigInt(gasPrice);
  const isCapped = gasPrice % 200 === 0;
  const transaction = isCapped
    ? aTransaction({ privateKey, nonce, type: 2, maxFeePerGas: cap, maxPriorityFeePerGas: cap / 2n })
    : aTransaction({ privateKey, nonce, gasPrice: cap });
  made.set(name, transaction);
  return transaction;
}

function drain(selection: Selection, count = Number.POSITIVE_INFINITY): SentTransaction[] {
  const taken: SentTransaction[] = [];
  while (taken.length < count) {
    const next = selection.next();
    if (next === undefined) break;
    taken.push(next);
  }
  return taken;
}

const hashes = (transactions: Iterable<SentTransaction>): string[] =>
  [...transactions].map(({ hash }) => toDigits(hash));

/** The pool, the model, and the blocks that both have seen. */
interface Twins {
  readonly inHand: PoolInHand;
  readonly model: NaivePool;
  readonly blocks: {
    readonly transactions: readonly SentTransaction[];
    readonly before: ReadonlyMap<string, bigint>;
  }[];
}

function twins(): Twins {
  return { inHand: aPool(open), model: new NaivePool(LIMITS), blocks: [] };
}

function mineBoth({ inHand, model, blocks }: Twins, transactions: readonly SentTransaction[]): void {
  const before = new Map(
    transactions.map(({ sender }) => [toDigits(sender), model.nonceOf(sender)] as const),
  );
  blocks.push({ transactions, before });
  inHand.mine(...transactions);
  model.mine(transactions);
}

/** Does the same to both; the results must be equal. */
function perform(step: Action, pair: Twins): void {
  const { model, blocks } = pair;
  const { pool, head } = pair.inHand;
  switch (step.kind) {
    case "add": {
      const { address } = account(step.who);
      const nonce = model.nextNonce(address) + BigInt(step.ahead);
      const transaction = transfer(step.who, nonce < 0n ? 0n : nonce, step.price);
      const result = pool.add(transaction, step.origin);
      const code = result.ok ? "admitted" : result.error.code;
      expect(code).toBe(model.add(transaction, step.origin));
      return;
    }
    case "drop": {
      const victim = model.entries[step.which]?.transaction;
      if (victim === undefined) return;
      pool.drop(victim.hash, "dropped by the test");
      model.drop(victim.hash);
      return;
    }
    case "mine": {
      mineBoth(pair, drain(pool.select(model.baseFeePerGas), step.count));
      return;
    }
    case "mineForeign": {
      mineBoth(pair, [transfer(step.who, model.nonceOf(account(step.who).address), 77)]);
      return;
    }
    case "rewind": {
      const block = blocks.pop();
      if (block === undefined) return;
      for (const { sender } of block.transactions) {
        head.set(sender, { nonce: block.before.get(toDigits(sender)) ?? 0n });
      }
      pool.headChanged({ added: [], removed: [block] });
      model.rewind(block.transactions, block.before);
      return;
    }
    case "baseFee": {
      head.nextBaseFeePerGas = BigInt(step.wei);
      model.baseFeePerGas = BigInt(step.wei);
      pool.headChanged({ added: [], removed: [] });
      return;
    }
  }
}

function expectSame({ inHand: { pool }, model }: Twins): void {
  const entries = [...pool.entries()];
  expect(hashes(entries.map(({ transaction }) => transaction)).sort()).toEqual(
    hashes(model.entries.map(({ transaction }) => transaction)).sort(),
  );
  expect(pool.statistics).toEqual({
    pending: model.entries.filter((entry) => model.isPending(entry)).length,
    queued: model.entries.filter((entry) => !model.isPending(entry)).length,
    local: model.entries.filter(({ isPrioritized }) => isPrioritized).length,
    remote: model.entries.filter(({ isPrioritized }) => !isPrioritized).length,
    bytes: model.entries.reduce((sum, { transaction }) => sum + transaction.raw.length, 0),
  });
  for (let index = 0; index < 5; index++) {
    const { address } = account(index);
    expect(pool.nextNonce(address)).toBe(model.nextNonce(address));
  }
  expect(hashes(drain(pool.select(model.baseFeePerGas)))).toEqual(hashes(model.select()));
}

describe("the pool, under random actions", () => {
  it("equals the naive pool after each step", () => {
    fc.assert(
      fc.property(actions, (steps) => {
        const pair = twins();
        for (const step of steps) {
          perform(step, pair);
          expectSame(pair);
        }
      }),
      { numRuns: casesOf(200) },
    );
  });

  it("reports every added and dropped entry exactly once", () => {
    fc.assert(
      fc.property(actions, (steps) => {
        const pair = twins();
        const { pool } = pair.inHand;
        const known = new Set<string>();
        pool.onAdded(({ transaction }) => {
          expect(known.has(toDigits(transaction.hash))).toBe(false);
          known.add(toDigits(transaction.hash));
        });
        pool.onDropped(({ transaction }) => {
          expect(known.delete(toDigits(transaction.hash))).toBe(true);
        });
        for (const step of steps) {
          const before = new Set(known);
          perform(step, pair);
          const now = new Set(hashes([...pool.entries()].map(({ transaction }) => transaction)));
          if (step.kind === "mine" || step.kind === "mineForeign") {
            for (const hash of before) if (!now.has(hash)) known.delete(hash);
          }
          expect([...known].sort()).toEqual([...now].sort());
        }
      }),
      { numRuns: casesOf(100) },
    );
  });
});

describe("a block built from the pool", () => {
  /** Transactions arrive in any order, some while the block is being built. */
  const arrivals = fc.array(fc.tuple(who, fc.nat({ max: 6 }), price, fc.boolean()), {
    maxLength: 80,
    size: "max",
  });

  it("has no gap and no duplicate, and the pool stays within its limits", () => {
    fc.assert(
      fc.property(arrivals, (list) => {
        const { pool } = aPool(open);
        const selection = pool.select(1000n);
        const block: SentTransaction[] = [];
        for (const [from, nonce, gasPrice, draws] of list) {
          pool.add(transfer(from, BigInt(nonce), gasPrice), "remote");
          expect(pool.statistics.pending + pool.statistics.queued).toBeLessThanOrEqual(
            LIMITS.maxTransactions,
          );
          if (draws) block.push(...drain(selection, 1));
        }
        block.push(...drain(selection));
        for (let index = 0; index < 5; index++) {
          const { address } = account(index);
          const nonces = block
            .filter(({ sender }) => toDigits(sender) === toDigits(address))
            .map(({ nonce }) => nonce);
          expect(nonces).toEqual(nonces.map((_, at) => BigInt(at)));
        }
      }),
      { numRuns: casesOf(200) },
    );
  });

  it("includes a sender whose whole run outbids all others, also when the pool is full", () => {
    const crowd = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.nat({ max: 6 }), price), {
      maxLength: 60,
      size: "max",
    });
    fc.assert(
      fc.property(crowd, fc.integer({ min: 1, max: 4 }), fc.nat({ max: 59 }), (list, run, from) => {
        const { pool } = aPool(open);
        const best = Array.from({ length: run }, (_, nonce) => transfer(0, BigInt(nonce), 9000 + nonce));
        for (const [at, [sender, nonce, gasPrice]] of list.entries()) {
          if (at === from) for (const transaction of best) pool.add(transaction, "remote");
          pool.add(transfer(sender, BigInt(nonce), gasPrice), "remote");
        }
        if (from >= list.length) for (const transaction of best) pool.add(transaction, "remote");
        expect(hashes(drain(pool.select(1000n), run))).toEqual(hashes(best));
      }),
      { numRuns: casesOf(200) },
    );
  });

  it("consists of the best of all arrivals, in any order of arrival", () => {
    const prices = fc.uniqueArray(fc.integer({ min: 11, max: 90 }), {
      minLength: 5,
      maxLength: 25,
      size: "max",
    });
    fc.assert(
      fc.property(prices, (list) => {
        const { pool } = aPool(open);
        for (const hundreds of list) {
          const { privateKey } = accountFromSeed(hundreds);
          pool.add(aTransaction({ privateKey, gasPrice: BigInt(hundreds) * 100n }), "remote");
        }
        const best = list.toSorted((a, b) => b - a).slice(0, LIMITS.maxTransactions);
        const taken = drain(pool.select(1000n)).map(({ gasPrice = 0n }) => Number(gasPrice) / 100);
        expect(taken).toEqual(best);
      }),
      { numRuns: casesOf(50) },
    );
  });
});
