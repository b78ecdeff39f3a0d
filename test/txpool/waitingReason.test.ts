import { describe, expect, it } from "vitest";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aPool } from "../builders/aPool.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";

/** A block that was made long after the pool's clock began, and has room. */
const LATER = { gasLimit: 30_000_000n, gasUsed: 0n, timestamp: 1_700_000_100n };

/** A pool with these transactions, and the reason of each by the newest block. */
function aPoolWith(...transactions: readonly SentTransaction[]) {
  const inHand = aPool({ limits: { admissionFloorWei: 0n } });
  for (const one of transactions) expect(inHand.pool.add(one, "local").ok).toBe(true);
  const why = (one: SentTransaction, newest = LATER) => {
    const entry = inHand.pool.get(one.hash);
    return entry && inHand.pool.whyWaiting(entry, newest);
  };
  return { ...inHand, why };
}

function from(who: number, nonce: number, gasPrice = 2000n, gasLimit = 21_000n): SentTransaction {
  return aTransaction({ privateKey: account(who).privateKey, nonce: BigInt(nonce), gasPrice, gasLimit });
}

describe("a transaction waits", () => {
  it("for a lower nonce of its sender that is missing, and says which", () => {
    const [first, far] = [from(0, 0), from(0, 2)];
    const { why } = aPoolWith(first, far);
    expect(why(far)).toMatchObject({ reason: "nonceGap", nextNonce: 1n });
    expect(why(first)).toMatchObject({ reason: "unknown", priceWei: 2000n, askedWei: undefined });
  });

  it("for a higher price, also when it pays the floor that changed last", () => {
    const [poor, better] = [from(0, 0, 900n), from(1, 0, 1500n)];
    const { pool, why } = aPoolWith(poor, better);
    expect(why(poor)).toMatchObject({ reason: "belowBaseFee", askedWei: 1000n });
    pool.changeBlockFloors({ minGasPriceWei: 1501n });
    expect(why(better)).toMatchObject({ reason: "belowMinGasPrice", askedWei: 1501n });
    pool.changeBlockFloors({ minGasPriceWei: 0n, minPriorityFeeWei: 501n });
    expect(why(better)).toMatchObject({ reason: "belowMinPriorityFee", askedWei: 1501n });
  });

  it("for the balance of its sender, which may fall after it was sent", () => {
    const one = from(0, 0);
    const { head, mine, why } = aPoolWith(one);
    head.set(one.sender, { balanceWei: 1n });
    mine();
    expect(why(one)).toMatchObject({ reason: "insufficientBalance", balanceWei: 1n, costWei: 42_000_001n });
  });

  it("for a block with room, for the next one, or for its sender's earlier transactions", () => {
    const [first, second] = [from(0, 0), from(0, 1)];
    const { why } = aPoolWith(first, second);
    expect(why(second)?.reason).toBe("earlierNonce");
    expect(why(first, { ...LATER, gasUsed: 29_990_000n })?.reason).toBe("fullBlock");
    expect(why(first, { ...LATER, gasLimit: 20_000n })?.reason).toBe("gasAboveBlock");
    expect(why(first, { ...LATER, timestamp: 1_700_000_001n })?.reason).toBe("nextBlock");
  });

  it("no longer once its nonce is used", () => {
    const one = from(0, 0);
    const { pool, head, mine } = aPoolWith(one);
    const entry = pool.get(one.hash);
    head.set(one.sender, { nonce: 1n });
    mine();
    expect(entry && pool.whyWaiting(entry, LATER)).toBeUndefined();
  });
});
