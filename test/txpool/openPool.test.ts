import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createNextBlockView } from "../../src/chain/nextBlockView.ts";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../src/txpool/limits.ts";
import { openPool } from "../../src/txpool/openPool.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";
import { recoverSignersHere } from "../builders/recoverSignersHere.ts";

const MINUTE_MS = 60_000;

async function opened(clock: HandClock, retentionMs: number) {
  const { chain, spec, world } = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8"), clock });
  return openPool(
    { limits: { ...DEFAULT_TX_POOL_LIMITS, retentionMs }, file: undefined },
    {
      chain,
      view: createNextBlockView(spec, chain, world.head, clock),
      recoverSigners: recoverSignersHere,
      clock,
      logger: silentLogger,
    },
  );
}

describe("the node's pool", () => {
  it("drops expired transactions each minute, until it is closed", async () => {
    const clock = createHandClock(1_700_000_000_000);
    const { pool, begin, close } = await opened(clock, 90_000);
    begin();
    pool.add(aTransaction(), "local");
    clock.advanceBy(MINUTE_MS);
    expect(pool.statistics.pending).toBe(1);
    clock.advanceBy(MINUTE_MS);
    expect(pool.statistics.pending).toBe(0);
    pool.add(aTransaction({ nonce: 1n }), "local");
    await close();
    expect(clock.nextAlarmMs).toBeUndefined();
  });

  it("sets no timer when transactions do not expire", async () => {
    const clock = createHandClock(1_700_000_000_000);
    const { begin, close } = await opened(clock, Number.POSITIVE_INFINITY);
    begin();
    expect(clock.nextAlarmMs).toBeUndefined();
    await close();
  });
});
