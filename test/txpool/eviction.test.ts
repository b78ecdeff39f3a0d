import { describe, expect, it } from "vitest";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aPool, type PoolInHand } from "../builders/aPool.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";

function from(who: number, nonce: number, gasPrice: bigint): SentTransaction {
  return aTransaction({ privateKey: account(who).privateKey, nonce: BigInt(nonce), gasPrice });
}

function holding(maxTransactions: number, transactions: readonly SentTransaction[]): PoolInHand {
  const inHand = aPool({ limits: { maxTransactions } });
  for (const transaction of transactions) inHand.pool.add(transaction, "remote");
  expect(inHand.events).toHaveLength(transactions.length);
  inHand.events.length = 0;
  return inHand;
}

function codeOf({ pool }: PoolInHand, transaction: SentTransaction): string {
  const added = pool.add(transaction, "remote");
  return added.ok ? "added" : added.error.code;
}

function contents({ pool }: PoolInHand): SentTransaction[] {
  return [...pool.entries()].map(({ transaction }) => transaction);
}

describe("a full pool", () => {
  it("evicts the entry that pays least, and reports it", () => {
    const [cheap, dear, incoming] = [from(0, 0, 2000n), from(1, 0, 4000n), from(2, 0, 3000n)];
    const inHand = holding(2, [cheap, dear]);
    inHand.pool.add(incoming, "remote");
    expect(contents(inHand)).toEqual([dear, incoming]);
    expect(inHand.events.map((event) => event.split(" ")[0])).toEqual(["dropped", "added"]);
    expect(inHand.events[0]).toContain("the pool is full");
  });

  it("refuses the incoming transaction when it pays no more than the rest", () => {
    const inHand = holding(2, [from(0, 0, 2000n), from(1, 0, 2000n)]);
    expect(codeOf(inHand, from(2, 0, 2000n))).toBe("poolFull");
    expect(contents(inHand)).toEqual([from(0, 0, 2000n), from(1, 0, 2000n)]);
    expect(inHand.events).toEqual([]);
  });

  it("evicts the highest nonce of the sender that pays least, so that no gap opens", () => {
    const inHand = holding(3, [from(0, 0, 2000n), from(0, 1, 9000n), from(1, 0, 4000n)]);
    inHand.pool.add(from(2, 0, 3000n), "remote");
    expect(contents(inHand)).toEqual([from(0, 0, 2000n), from(1, 0, 4000n), from(2, 0, 3000n)]);
    expect(inHand.pool.statistics.queued).toBe(0);
  });

  it("prefers any pending entry to one behind a gap, whatever its price", () => {
    const inHand = holding(2, [from(0, 1, 9000n), from(1, 0, 4000n)]);
    inHand.pool.add(from(2, 0, 1100n), "remote");
    expect(contents(inHand)).toEqual([from(1, 0, 4000n), from(2, 0, 1100n)]);
  });

  it("prefers prioritized entries, however cheap", () => {
    const inHand = holding(1, [from(0, 0, 9000n)]);
    inHand.pool.add(from(1, 0, 1000n), "local");
    expect(contents(inHand)).toEqual([from(1, 0, 1000n)]);
  });

  it("recomputes its order after a filled gap, a replacement, and a mined block", () => {
    const inHand = holding(3, [from(0, 1, 3000n), from(1, 0, 2000n), from(2, 0, 5000n)]);
    inHand.pool.add(from(3, 0, 1500n), "remote");
    expect(contents(inHand)).toEqual([from(1, 0, 2000n), from(2, 0, 5000n), from(3, 0, 1500n)]);
    inHand.pool.add(from(3, 0, 6000n), "remote");
    inHand.pool.add(from(4, 0, 2500n), "remote");
    expect(contents(inHand)).toEqual([from(2, 0, 5000n), from(3, 0, 6000n), from(4, 0, 2500n)]);
    inHand.mine(from(4, 0, 2500n));
    inHand.pool.add(from(5, 0, 2600n), "remote");
    inHand.pool.add(from(6, 0, 2700n), "remote");
    expect(contents(inHand)).toEqual([from(2, 0, 5000n), from(3, 0, 6000n), from(6, 0, 2700n)]);
  });

  it("compares fees under the next base fee at the head", () => {
    const tipped = aTransaction({ type: 2, maxPriorityFeePerGas: 600n, maxFeePerGas: 2000n });
    const priced = from(1, 0, 1800n);
    const survivor = (baseFeePerGas: bigint): SentTransaction | undefined => {
      const inHand = holding(2, [tipped, priced]);
      inHand.head.nextBaseFeePerGas = baseFeePerGas;
      inHand.pool.headChanged({ added: [], removed: [] });
      inHand.pool.add(from(2, 0, 9000n), "remote");
      return contents(inHand)[0];
    };
    expect(survivor(1000n)).toEqual(priced);
    expect(survivor(1300n)).toEqual(tipped);
  });

  it("recomputes a sender whose nonce moved without a transaction of its own (EIP-7702)", () => {
    const waiting = from(0, 1, 3000n);
    const inHand = holding(2, [waiting, from(1, 0, 4000n)]);
    inHand.head.set(waiting.sender, { nonce: 1n });
    inHand.pool.headChanged({ added: [], removed: [] });
    inHand.pool.add(from(2, 1, 1000n), "remote");
    expect(inHand.pool.nextNonce(waiting.sender)).toBe(2n);
    inHand.pool.add(from(3, 0, 5000n), "remote");
    expect(contents(inHand)).toEqual([from(1, 0, 4000n), from(3, 0, 5000n)]);
  });

  it("is full by bytes as well as by count", () => {
    const small = from(0, 0, 2000n);
    const inHand = aPool({ limits: { maxBytes: small.raw.length * 2 } });
    for (const who of [0, 1, 2]) inHand.pool.add(from(who, 0, 2000n + BigInt(who)), "remote");
    expect(contents(inHand)).toEqual([from(1, 0, 2001n), from(2, 0, 2002n)]);
    expect(inHand.pool.statistics.bytes).toBe(small.raw.length * 2);
  });

  it("refuses an incoming transaction larger than the whole pool", () => {
    const inHand = aPool({ limits: { maxBytes: 500 } });
    inHand.pool.add(from(0, 0, 2000n), "remote");
    const huge = aTransaction({
      privateKey: account(1).privateKey,
      gasPrice: 10n ** 9n,
      data: new Uint8Array(600),
    });
    expect(codeOf(inHand, huge)).toBe("poolFull");
    expect(contents(inHand)).toEqual([from(0, 0, 2000n)]);
  });
});
