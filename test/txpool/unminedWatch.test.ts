import { describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { UnminedWatch } from "../../src/txpool/unminedWatch.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aPool } from "../builders/aPool.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock } from "../builders/handClock.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { account } from "../builders/testAccounts.ts";

const BLOCK_GAS = 30_000_000n;

function from(who: number, nonce: number, gasPrice = 2000n): SentTransaction {
  return aTransaction({ privateKey: account(who).privateKey, nonce: BigInt(nonce), gasPrice });
}

/** A watched pool with a floor of 1,000 wei, and blocks that take nothing of it. */
function watched() {
  const inHand = aPool();
  const clock = createHandClock(1_700_000_000_000);
  const { logger, lines } = loggedLines();
  let onHead: Parameters<ConstructorParameters<typeof UnminedWatch>[0]["chain"]["onHeadChanged"]>[1] = () =>
    undefined;
  const chain = {
    onHeadChanged(_row: string, listener: typeof onHead) {
      onHead = listener;
      return () => undefined;
    },
  };
  const watch = new UnminedWatch({ pool: inHand.pool, chain, clock, logger });
  const seconds = (count: number, gasUsed = 0n, baseFeePerGas?: bigint): void => {
    for (let second = 0; second < count; second++) {
      clock.advanceBy(1000);
      onHead({ added: [{ header: { gasUsed, gasLimit: BLOCK_GAS, baseFeePerGas } }] });
    }
  };
  return { ...inHand, seconds, lines, watch, list: () => watch.list(100) };
}

describe("a local transaction", () => {
  it("that blocks with room pass over for a minute is named once, the first of its sender alone", () => {
    const { pool, seconds, lines } = watched();
    const [first, second, remote] = [from(0, 0), from(0, 1), from(1, 0)];
    for (const one of [first, second]) pool.add(one, "local");
    pool.add(remote, "remote");
    pool.add(from(2, 5), "local");
    seconds(59);
    expect(lines).toEqual([]);
    seconds(300);
    expect(lines).toEqual([
      expect.objectContaining({
        level: "WARN",
        hash: toHex(first.hash),
        message: expect.stringContaining("no block took a local transaction for a minute") as string,
      }),
    ]);
  });

  it("is not named while blocks have no room for it", () => {
    const { pool, seconds, lines } = watched();
    pool.add(from(0, 0), "local");
    seconds(300, BLOCK_GAS - 20_000n);
    expect(lines).toEqual([]);
  });

  it("that offers less than the node's own floor is named as it comes", () => {
    const { pool, lines } = watched();
    const cheap = from(0, 0, 999n);
    expect(pool.add(cheap, "local").ok).toBe(true);
    expect(lines).toEqual([
      expect.objectContaining({
        hash: toHex(cheap.hash),
        message: expect.stringContaining("offers less than --min-gas-price") as string,
      }),
    ]);
  });

  it("that offers less beside the base fee is named as it comes, however high its cap", () => {
    const { pool, seconds, lines } = watched();
    seconds(1, 0n, 7n);
    const [low, enough] = [992n, 993n].map((maxPriorityFeePerGas, who) => {
      const { privateKey } = account(who);
      return aTransaction({ privateKey, type: 2, maxPriorityFeePerGas, maxFeePerGas: 5000n });
    });
    for (const one of [low, enough]) if (one !== undefined) expect(pool.add(one, "local").ok).toBe(true);
    expect(lines).toEqual([expect.objectContaining({ hash: low && toHex(low.hash), priceWei: 999 })]);
  });

  it("that blocks passed over is listed with the reason that this node can know, until a block takes it", () => {
    const { pool, mine, seconds, list } = watched();
    const [cheap, fair, dear] = [from(0, 0, 999n), from(1, 0, 1500n), from(2, 0, 5000n)];
    for (const one of [cheap, fair, dear]) pool.add(one, "local");
    seconds(59, 0n, 1200n);
    expect(list()).toEqual([]);
    seconds(130, 0n, 1200n);
    const told = () => list().map(({ entry, ...rest }) => [toHex(entry.transaction.hash), rest]);
    const unknown = { reason: "unknown", askedWei: undefined };
    expect(told()).toEqual([
      [toHex(cheap.hash), { reason: "belowBaseFee", priceWei: 999n, askedWei: 1200n }],
      [toHex(fair.hash), { ...unknown, priceWei: 1500n }],
      [toHex(dear.hash), { ...unknown, priceWei: 5000n }],
    ]);
    seconds(1, 0n, 7n);
    expect(told()[0]).toEqual([
      toHex(cheap.hash),
      { reason: "belowMinGasPrice", priceWei: 999n, askedWei: 1000n },
    ]);
    mine(cheap, fair);
    expect(told().map(([hash]) => hash)).toEqual([toHex(dear.hash)]);
  });

  it("is counted with all others, however few of them are listed: those that wait longest", () => {
    const { pool, mine, seconds, watch } = watched();
    const sent = Array.from({ length: 6 }, (_, who) => from(who, 0));
    for (const one of sent) {
      pool.add(one, "local");
      seconds(1);
    }
    seconds(130);
    const listed = () => watch.list(2).map(({ entry }) => toHex(entry.transaction.hash));
    const hashes = sent.map(({ hash }) => toHex(hash));
    expect([watch.count, listed()]).toEqual([6, hashes.slice(0, 2)]);
    mine(sent[0] as SentTransaction);
    expect([watch.count, listed()]).toEqual([5, hashes.slice(1, 3)]);
  });
});
