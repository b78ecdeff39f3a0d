import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { TransactionSupply } from "../../src/chain/blockExecution.ts";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_CANCUN_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { checkerOn, connectConsensus, startConsensus } from "../../src/consensus/chainAdapter.ts";
import { SignedTimes } from "../../src/consensus/monitor/signedTimes.ts";
import type { Candidate } from "../../src/ibft/candidate.ts";
import { nodeKey } from "../../src/node/keys/nodeKey.ts";
import { type LogFields, type Logger, silentLogger } from "../../src/observability/logger.ts";
import { err } from "../../src/primitives/result.ts";
import { DamagedData, type Database, DiskError } from "../../src/storage/database.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import type { VoteLog } from "../../src/storage/votes/voteLog.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock } from "../builders/handClock.ts";
import { accountFromSeed } from "../builders/testAccounts.ts";

const genesis = readFileSync(DEV_CANCUN_GENESIS_FILE, "utf8");
const key = nodeKey(DEV_VALIDATOR_KEY);

/** Chain and consensus connected as in a node, over a database whose operations a test may replace. */
async function aNode(
  change: (database: Database) => Partial<Database> = () => ({}),
  changeChain: (chain: Chain) => Partial<Chain> = () => ({}),
) {
  const memory = createMemoryDatabase();
  const clock = createHandClock(1_800_000_000_000);
  const warnings: string[] = [];
  const fields: LogFields[] = [];
  const collect = (lineFields: LogFields, message: string): void => {
    warnings.push(message);
    fields.push(lineFields);
  };
  const logger: Logger = { ...silentLogger, error: collect, warn: collect };
  const database = { ...memory, ...change(memory) };
  const { chain, spec } = await aChain({ genesis, database, clock, builder: key.address, logger });
  const failures: unknown[] = [];
  const waiting: SentTransaction[] = [];
  const pool: TransactionSupply = {
    select: () => ({ next: () => waiting.shift(), skipSender: () => undefined }),
    drop: () => undefined,
  };
  const engine = connectConsensus({
    spec,
    chain: { ...chain, ...changeChain(chain) },
    pool,
    validator: key,
    outbox: { multicast: () => undefined },
    voteLog: createMemoryVoteLog(),
    clock,
    signedTimes: new SignedTimes(clock.nowMs),
    logger,
    onFailure: (error) => failures.push(error),
    onBlockStarted: () => undefined,
  });
  expect(startConsensus(engine, chain, "votes.log").ok).toBe(true);
  const runFor = async (durationMs: number): Promise<void> => {
    const untilMs = clock.nowMs() + durationMs;
    while (clock.nowMs() < untilMs) {
      for (let slice = 0; slice < 5; slice++) await new Promise((resume) => setImmediate(resume));
      clock.advanceTo(Math.min(untilMs, clock.nowMs() + 100));
    }
  };
  return { chain, engine, failures, warnings, fields, clock, logger, waiting, runFor };
}

describe("consensus over the chain", () => {
  it("stops the node at the first block that cannot be written, and does not retry", async () => {
    const full = new DiskError("The disk is full: make room, then start the node again.");
    let writes = 0;
    const { chain, engine, failures, warnings, clock, runFor } = await aNode((database) => ({
      write: async (batch) => {
        if (++writes > 4) throw full;
        await database.write(batch);
      },
    }));
    await runFor(20_000);
    const { number } = chain.head.header;
    expect(failures).toEqual([full]);
    expect(warnings).toEqual([
      "consensus has stopped: this node neither proposes nor votes until it is restarted",
    ]);
    expect(number).toBeGreaterThan(0n);
    expect(engine.status().mode).toBe("failed");
    const attempts = writes;
    await runFor(60_000);
    expect(writes).toBe(attempts);
    expect(clock.nextAlarmMs).toBeUndefined();
    expect(chain.head.header.number).toBe(number);
  });

  it("stops the node when the parent's state is damaged", async () => {
    const damage = new DamagedData("the account is damaged");
    let isDamaged = false;
    const { failures, waiting, runFor } = await aNode((database) => ({
      get(bytes) {
        if (isDamaged) throw damage;
        return database.get(bytes);
      },
    }));
    await runFor(3_000);
    expect(failures).toEqual([]);
    isDamaged = true;
    waiting.push(aTransaction({ to: accountFromSeed(1).address }));
    await runFor(3_000);
    expect(failures).toEqual([damage]);
  });

  it("logs once why a block could not be built", async () => {
    const refusal = err({ code: "notAfterHead", fault: "local", message: "the head moved on" });
    const { warnings, fields, runFor } = await aNode(undefined, () => ({ build: async () => refusal }));
    await runFor(2_000);
    expect(warnings).toEqual(["no block could be built; the round will time out"]);
    expect(fields).toEqual([{ number: 1n, round: 0, code: "notAfterHead", message: "the head moved on" }]);
  });

  it("goes on making blocks when a transaction cannot be executed by a fault of this node", async () => {
    let isArmed = false;
    const { chain, engine, failures, warnings, waiting, runFor } = await aNode((database) => ({
      get(bytes) {
        if (isArmed && waiting.length === 0) throw new RangeError("injected");
        return database.get(bytes);
      },
    }));
    await runFor(3_000);
    const { number } = chain.head.header;
    isArmed = true;
    waiting.push(aTransaction({ to: accountFromSeed(1).address }));
    await runFor(10_000);
    expect(chain.head.header.number).toBeGreaterThan(number + 5n);
    expect([failures, engine.status().mode]).toEqual([[], "validating"]);
    expect(warnings).toEqual([
      "a transaction could not be executed because of a fault in this node; blocks are built without it for a while",
    ]);
  });

  it("neither votes for nor against a proposal that it cannot execute by a fault of its own", async () => {
    const { chain, clock, logger, warnings } = await aNode();
    const fault = err({ code: "executionFailed", fault: "local", message: "injected" } as const);
    const parts = {
      chain: { ...chain, check: async () => fault },
      clock,
      logger,
      onBlockStarted: () => undefined,
    };
    const { header, hash } = chain.head;
    const next = { header: { ...header, number: 1n }, hash, extra: { round: 0 } } as unknown as Candidate;
    expect(await checkerOn(parts, () => undefined).check(next, new AbortController().signal)).toBeUndefined();
    expect(warnings).toEqual(["a proposed block could not be executed: this node does not vote on it"]);
  });

  it("waits when the clock is set back, and continues afterwards", async () => {
    const { chain, clock, runFor, failures } = await aNode();
    await runFor(3_000);
    const before = chain.head.header.number;
    expect(before).toBeGreaterThan(1n);
    clock.setBack(30_000);
    await runFor(29_000);
    expect(chain.head.header.number).toBeLessThanOrEqual(before + 1n);
    await runFor(5_000);
    expect(chain.head.header.number).toBeGreaterThan(before + 2n);
    expect(failures).toEqual([]);
  });
});

/** A vote log in memory. */
function createMemoryVoteLog(): VoteLog {
  let newest: Uint8Array | undefined;
  return {
    read: () => newest,
    async write(record) {
      newest = Uint8Array.from(record);
    },
    close: async () => undefined,
  };
}
