import { describe, expect, it } from "vitest";
import { Metrics } from "../../src/observability/registry.ts";
import { metricsText } from "../../src/observability/textFormat.ts";
import { logDepartures } from "../../src/txpool/departureLog.ts";
import { declarePoolMetrics } from "../../src/txpool/poolMetrics.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aPool } from "../builders/aPool.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock } from "../builders/handClock.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { account } from "../builders/testAccounts.ts";

const LIMITS = { maxTransactions: 3, maxBytes: 10_000 };

function from(who: number, nonce: number, gasPrice = 2000n): SentTransaction {
  return aTransaction({ privateKey: account(who).privateKey, nonce: BigInt(nonce), gasPrice });
}

function watched() {
  const inHand = aPool({ limits: LIMITS });
  const clock = createHandClock(0);
  const { logger, lines } = loggedLines();
  logDepartures(inHand.pool, logger, clock);
  const metrics = new Metrics(
    { categories: new Set(["TRANSACTION_POOL"]), hasTimers: false },
    { clock, stopwatchMs: () => 0 },
  );
  declarePoolMetrics(metrics, inHand.pool, LIMITS);
  const left = async (): Promise<string[]> =>
    metricsText(await metrics.collect())
      .split("\n")
      .filter((line) => line.startsWith("tx_pool_left_total{"));
  return { ...inHand, clock, lines, left };
}

describe("what leaves the pool", () => {
  it("is counted by reason and source", async () => {
    const { pool, mine, left } = watched();
    const [first, second] = [from(0, 0), from(0, 1)];
    for (const one of [first, second]) pool.add(one, "local");
    pool.add(from(1, 5), "remote");
    pool.add(from(0, 1, 9000n), "local");
    pool.add(from(2, 0), "remote");
    mine(first);
    pool.drop(from(0, 1, 9000n).hash, "it never fits");
    expect(await left()).toEqual(
      expect.arrayContaining([
        'tx_pool_left_total{reason="mined",source="local"} 1',
        'tx_pool_left_total{reason="replaced",source="local"} 1',
        'tx_pool_left_total{reason="pool_full",source="remote"} 1',
        'tx_pool_left_total{reason="invalid",source="local"} 1',
      ]),
    );
  });

  it("is named in the log when it is local and neither mined nor replaced", () => {
    const { pool, mine, lines } = watched();
    const gapped = from(0, 7);
    pool.add(gapped, "local");
    pool.add(from(1, 7), "remote");
    for (const who of [2, 3, 4]) pool.add(from(who, 0), "local");
    pool.add(from(2, 0, 9000n), "local");
    mine(from(3, 0));
    expect(lines).toEqual([
      expect.objectContaining({
        message: "a local transaction left the pool without being mined",
        hash: `0x${Buffer.from(gapped.hash).toString("hex")}`,
        reason: "the pool is full",
      }),
    ]);
  });

  it("is named ten times in ten seconds, and then counted", () => {
    const { pool, clock, lines } = watched();
    for (let nonce = 0; nonce < 15; nonce++) {
      pool.add(from(0, nonce), "local");
      pool.drop(from(0, nonce).hash, "no block can include it");
    }
    clock.advanceBy(10_000);
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toMatchObject({ more: 5 });
  });
});
