import { describe, expect, it } from "vitest";
import { LAYERS, REJECTION_REASONS, REMOVAL_OPERATIONS } from "../../src/txpool/besuNames.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aPool, type PoolInHand } from "../builders/aPool.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";

function from(who: number, nonce: number, gasPrice = 2000n): SentTransaction {
  return aTransaction({ privateKey: account(who).privateKey, nonce: BigInt(nonce), gasPrice });
}

/** What metrics count, with Besu's labels: added, removed and rejected transactions. */
function countedBy({ pool }: PoolInHand): string[] {
  const counted: string[] = [];
  const yesNo = (isTrue: boolean): string => (isTrue ? "yes" : "no");
  pool.onAdded(({ origin, isPrioritized }, subPool) =>
    counted.push(`added ${origin} ${yesNo(isPrioritized)} ${LAYERS[subPool]}`),
  );
  pool.onRemoved(({ entry: { origin, isPrioritized }, cause, subPool }) =>
    counted.push(`removed ${origin} ${yesNo(isPrioritized)} ${REMOVAL_OPERATIONS[cause]} ${LAYERS[subPool]}`),
  );
  pool.onRefused(({ origin, isPrioritized, code }) =>
    counted.push(`rejected ${origin} ${yesNo(isPrioritized)} ${REJECTION_REASONS[code]}`),
  );
  return counted;
}

describe("events of the pool, with Besu's labels", () => {
  it("added: source and layer", () => {
    const inHand = aPool();
    const counted = countedBy(inHand);
    inHand.pool.add(from(0, 0), "local");
    inHand.pool.add(from(1, 0), "remote");
    inHand.pool.add(from(1, 2), "remote");
    expect(counted).toEqual([
      "added local yes prioritized",
      "added remote no prioritized",
      "added remote no sparse",
    ]);
  });

  it("rejected: with the reason", () => {
    const inHand = aPool();
    inHand.pool.add(from(0, 0), "local");
    const counted = countedBy(inHand);
    inHand.pool.add(from(0, 0), "remote");
    inHand.pool.add(from(0, 0, 2001n), "local");
    inHand.pool.add(from(1, 0, 999n), "remote");
    inHand.pool.add(from(1, 200), "remote");
    expect(counted).toEqual([
      "rejected remote no TRANSACTION_ALREADY_KNOWN",
      "rejected local yes TRANSACTION_REPLACEMENT_UNDERPRICED",
      "rejected remote no GAS_PRICE_TOO_LOW",
      "rejected remote no NONCE_TOO_FAR_IN_FUTURE_FOR_SENDER",
    ]);
  });

  it("removed: mined, superseded, replaced, found invalid", () => {
    const inHand = aPool();
    for (const nonce of [0, 1, 2, 3]) inHand.pool.add(from(0, nonce), "local");
    const counted = countedBy(inHand);
    inHand.mine(from(0, 0), from(0, 1, 7777n));
    inHand.pool.add(from(0, 2, 3000n), "local");
    inHand.pool.drop(from(0, 2, 3000n).hash, "found invalid");
    expect(counted).toEqual([
      "removed local yes confirmed prioritized",
      "removed local yes confirmed prioritized",
      "removed local yes replaced prioritized",
      "added local yes prioritized",
      "removed local yes invalidated prioritized",
    ]);
  });

  it("removed from a full pool, and refused by it", () => {
    const inHand = aPool({ limits: { maxTransactions: 2 } });
    inHand.pool.add(from(0, 0), "remote");
    inHand.pool.add(from(1, 1), "remote");
    const counted = countedBy(inHand);
    inHand.pool.add(from(2, 0, 1000n), "remote");
    inHand.pool.add(from(3, 0, 1000n), "remote");
    expect(counted).toEqual([
      "removed remote no dropped sparse",
      "added remote no prioritized",
      "rejected remote no TX_POOL_FULL",
    ]);
  });
});

describe("the breakdown", () => {
  it("counts transactions, bytes, senders and types by sub-pool", () => {
    const { pool } = aPool();
    const [first, second, beyond] = [
      from(0, 0),
      aTransaction({ nonce: 1n, type: 2 }),
      aTransaction({ privateKey: account(1).privateKey, nonce: 3n, type: 1 }),
    ];
    for (const transaction of [first, second, beyond]) pool.add(transaction, "local");
    expect(pool.breakdown()).toEqual({
      pending: {
        transactions: 2,
        bytes: first.raw.length + second.raw.length,
        senders: 1,
        byType: new Map([
          [0, 1],
          [2, 1],
        ]),
      },
      queued: { transactions: 1, bytes: beyond.raw.length, senders: 1, byType: new Map([[1, 1]]) },
    });
  });
});
