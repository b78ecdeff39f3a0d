import { describe, expect, it } from "vitest";
import type { Selection } from "../../src/txpool/ordering.ts";
import type { TxPool } from "../../src/txpool/txPool.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aPool } from "../builders/aPool.ts";
import { aTransaction, type TransactionFields } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";

/** From test account `who`, at `gasPrice`. */
function from(
  who: number,
  nonce: number,
  gasPrice = 2000n,
  changes: Partial<TransactionFields> = {},
): SentTransaction {
  return aTransaction({ privateKey: account(who).privateKey, nonce: BigInt(nonce), gasPrice, ...changes });
}

function addAll(pool: TxPool, transactions: readonly SentTransaction[]): void {
  for (const transaction of transactions) expect(pool.add(transaction, "local").ok).toBe(true);
}

function drain(selection: Selection): SentTransaction[] {
  const taken: SentTransaction[] = [];
  for (let next = selection.next(); next !== undefined; next = selection.next()) taken.push(next);
  return taken;
}

describe("select", () => {
  it("returns the best payer first, and equals in order of arrival", () => {
    const { pool } = aPool();
    const [second, first, third, fourth] = [
      from(0, 0, 2000n),
      from(1, 0, 3000n),
      from(2, 0, 2000n),
      from(3, 0, 1500n),
    ];
    addAll(pool, [second, first, third, fourth]);
    expect(drain(pool.select(1000n))).toEqual([first, second, third, fourth]);
  });

  it("keeps each sender's nonces in order, whatever they pay and in any order of arrival", () => {
    const { pool } = aPool();
    const mine = [from(0, 0, 1500n), from(0, 1, 9000n), from(0, 2, 1200n)];
    const other = from(1, 0, 1400n);
    addAll(pool, [...mine.toReversed(), other]);
    expect(drain(pool.select(1000n))).toEqual([mine[0], mine[1], other, mine[2]]);
  });

  it("compares what the beneficiary gets under the given base fee", () => {
    const { pool } = aPool();
    const tipped = from(0, 0, 0n, { type: 2, maxPriorityFeePerGas: 600n, maxFeePerGas: 2000n });
    const priced = from(1, 0, 1800n);
    addAll(pool, [tipped, priced]);
    expect(drain(pool.select(1000n))).toEqual([priced, tipped]);
    expect(drain(pool.select(1300n))).toEqual([tipped, priced]);
  });

  it("distinguishes prices that differ beyond the precision of a double", () => {
    const { pool, head } = aPool({ limits: { feeCapWei: 0n } });
    const dear = 2n ** 60n;
    const transactions = [0, 1, 2].map((who) => from(who, 0, dear + BigInt(who), { gasLimit: 21_000n }));
    for (const { sender } of transactions) head.set(sender, { balanceWei: 10n ** 40n });
    addAll(pool, transactions);
    expect(drain(pool.select(1000n))).toEqual(transactions.toReversed());
  });

  it("omits what cannot pay the base fee, and the rest of its sender", () => {
    const { pool } = aPool();
    addAll(pool, [from(0, 0, 999n), from(0, 1, 5000n), from(1, 0, 1000n)]);
    expect(drain(pool.select(1000n))).toEqual([from(1, 0, 1000n)]);
    expect(drain(pool.select(999n))).toHaveLength(3);
  });

  it("omits what is queued behind a gap", () => {
    const { pool } = aPool();
    addAll(pool, [from(0, 0), from(0, 2)]);
    expect(drain(pool.select(1000n))).toEqual([from(0, 0)]);
  });

  it("puts prioritized ones first: local ones, unless disabled, and those of priority senders", () => {
    const cheapLocal = from(0, 0, 1100n);
    const dearRemote = from(1, 0, 9000n);
    const named = from(2, 0, 1200n);
    const order = (hasLocalPriority: boolean): SentTransaction[] => {
      const { pool } = aPool({ limits: { hasLocalPriority, prioritySenders: [account(2).address] } });
      pool.add(dearRemote, "remote");
      pool.add(cheapLocal, "local");
      pool.add(named, "remote");
      return drain(pool.select(1000n));
    };
    expect(order(true)).toEqual([named, cheapLocal, dearRemote]);
    expect(order(false)).toEqual([named, dearRemote, cheapLocal]);
  });

  it("applies the block floors at its start to all without priority", () => {
    const { pool } = aPool({ limits: { hasLocalPriority: false } });
    const [plain, dear] = [from(0, 0, 1500n), from(1, 0, 4000n)];
    addAll(pool, [plain, dear]);
    expect(drain(pool.select(1000n))).toEqual([dear, plain]);
    pool.changeBlockFloors({ minGasPriceWei: 2000n });
    expect(drain(pool.select(1000n))).toEqual([dear]);
    pool.changeBlockFloors({ minPriorityFeeWei: 3001n });
    expect(drain(pool.select(1000n))).toEqual([]);
    pool.changeBlockFloors({ minGasPriceWei: 0n, minPriorityFeeWei: 0n });
    expect(drain(pool.select(1000n))).toEqual([dear, plain]);
    expect(pool.blockFloors).toEqual({ minGasPriceWei: 0n, minPriorityFeeWei: 0n });
  });

  it("does not apply the block floors to prioritized ones", () => {
    const { pool } = aPool({ rules: { isZeroBaseFee: true, isFreeFromStart: true } });
    addAll(pool, [from(0, 0, 0n)]);
    expect(drain(pool.select(0n))).toHaveLength(1);
  });

  it("offers a block no more than --tx-pool-max-prioritized", () => {
    const { pool } = aPool({ limits: { maxPrioritized: 2 } });
    addAll(pool, [from(0, 0), from(1, 0), from(2, 0)]);
    expect(drain(pool.select(1000n))).toEqual([from(0, 0), from(1, 0)]);
  });

  it("skips the rest of a sender for this block only", () => {
    const { pool } = aPool();
    addAll(pool, [from(0, 0, 3000n), from(0, 1, 3000n), from(1, 0, 2000n)]);
    const selection = pool.select(1000n);
    expect(selection.next()).toEqual(from(0, 0, 3000n));
    selection.skipSender();
    expect(drain(selection)).toEqual([from(1, 0, 2000n)]);
    expect(drain(pool.select(1000n))).toHaveLength(3);
  });

  it("needs no closing, and does not see another's progress", () => {
    const { pool } = aPool();
    addAll(pool, [from(0, 0), from(0, 1)]);
    const one = pool.select(1000n);
    one.next();
    expect(drain(pool.select(1000n))).toEqual([from(0, 0), from(0, 1)]);
    expect(drain(one)).toEqual([from(0, 1)]);
  });
});

describe("a selection in use", () => {
  it("sees arrivals: a new sender, the next nonce, a filled gap", () => {
    const { pool } = aPool();
    addAll(pool, [from(0, 0), from(1, 1)]);
    const selection = pool.select(1000n);
    expect(drain(selection)).toEqual([from(0, 0)]);
    addAll(pool, [from(2, 0), from(0, 1), from(1, 0)]);
    expect(drain(selection)).toEqual([from(2, 0), from(0, 1), from(1, 0), from(1, 1)]);
  });

  it("does not return to a skipped sender for later arrivals", () => {
    const { pool } = aPool();
    addAll(pool, [from(0, 0)]);
    const selection = pool.select(1000n);
    selection.next();
    selection.skipSender();
    addAll(pool, [from(0, 1)]);
    expect(drain(selection)).toEqual([]);
  });

  it("returns a replacement only for what it has not returned yet", () => {
    const { pool } = aPool();
    addAll(pool, [from(0, 0), from(0, 1)]);
    const selection = pool.select(1000n);
    selection.next();
    addAll(pool, [from(0, 0, 9000n), from(0, 1, 8000n)]);
    expect(drain(selection)).toEqual([from(0, 1, 8000n)]);
  });

  it("returns to a sender omitted for its price after a better replacement", () => {
    const { pool } = aPool();
    addAll(pool, [from(0, 0, 500n)]);
    const selection = pool.select(1000n);
    expect(drain(selection)).toEqual([]);
    addAll(pool, [from(0, 0, 1500n)]);
    expect(drain(selection)).toEqual([from(0, 0, 1500n)]);
  });

  it("skips entries dropped in the meantime, and those behind the gap", () => {
    const { pool } = aPool();
    addAll(pool, [from(0, 0), from(0, 1), from(1, 0)]);
    const selection = pool.select(1000n);
    pool.drop(from(0, 0).hash, "found invalid");
    expect(drain(selection)).toEqual([from(1, 0)]);
  });

  it("does not return a nonce twice when its sender's queue was removed and created again", () => {
    const { pool } = aPool();
    addAll(pool, [from(0, 0)]);
    const selection = pool.select(1000n);
    selection.next();
    pool.drop(from(0, 0).hash, "gone");
    addAll(pool, [from(0, 0, 7000n), from(0, 1)]);
    expect(drain(selection)).toEqual([from(0, 1)]);
  });
});
