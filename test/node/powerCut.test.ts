import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import type { Chain } from "../../src/chain/createChain.ts";
import { createNextBlockView } from "../../src/chain/nextBlockView.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { connectConsensus, startConsensus } from "../../src/consensus/chainAdapter.ts";
import type { Engine } from "../../src/consensus/engine.ts";
import { SignedTimes } from "../../src/consensus/monitor/signedTimes.ts";
import { loadInterpreter } from "../../src/execution/blockSession.ts";
import { nodeKey } from "../../src/node/keys/nodeKey.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import type { Hash } from "../../src/primitives/hash.ts";
import { toDigits, toHex } from "../../src/primitives/hex.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../src/txpool/limits.ts";
import { TxPool } from "../../src/txpool/txPool.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import {
  createForgetfulDisk,
  type ForgetfulDisk,
  type ForgetfulSettings,
} from "../builders/forgetfulDisk.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";
import { generator, type Random } from "../storage/random.ts";
import { itIfThorough } from "../thorough.ts";

/** The daily run; the long run asks for more (`npm run test:long`). */
const SEEDS = Number(process.env["IBEX_POWER_CUTS"] ?? 5);
const FIRST_SEED = Number(process.env["IBEX_SEED"] ?? 1);
const CUTS_PER_SEED = 5;

const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
const key = nodeKey(DEV_VALIDATOR_KEY);

/** Chain, pool and consensus connected as in a node, on a disk that loses unsynced writes. */
interface SimulatedNode {
  readonly chain: Chain;
  readonly pool: TxPool;
  readonly engine: Engine;
}

/** What peers and callers were told, and must not be lost. */
interface Announced {
  readonly heads: Map<bigint, Hash>;
  readonly receipts: Map<string, string>;
  nonce: bigint;
}

async function boot(disk: ForgetfulDisk, clock: HandClock, announced: Announced): Promise<SimulatedNode> {
  const { database, markerFile, voteLog } = disk;
  const { chain, spec, world } = await aChain({ genesis, database, markerFile, clock, builder: key.address });
  const pool = new TxPool(DEFAULT_TX_POOL_LIMITS, {
    chain: createNextBlockView(spec, chain, world.head, clock),
    clock,
  });
  chain.onHeadChanged("metrics", (change) => {
    pool.headChanged(change);
    for (const { header, hash, transactions } of change.added) {
      announced.heads.set(header.number, hash);
      for (const transaction of transactions)
        announced.receipts.set(toDigits(transaction.hash), toDigits(hash));
    }
  });
  const onFailure = (error: unknown): void => {
    throw error;
  };
  const engine = connectConsensus({
    spec,
    chain,
    pool,
    validator: key,
    outbox: { multicast: () => undefined },
    voteLog,
    clock,
    signedTimes: new SignedTimes(clock.nowMs),
    logger: silentLogger,
    onFailure,
    onBlockStarted: () => undefined,
  });
  expect(startConsensus(engine, chain, "votes.log").ok).toBe(true);
  return { chain, pool, engine };
}

async function runSlices(count: number): Promise<void> {
  for (let slice = 0; slice < count; slice++) await new Promise((resume) => setImmediate(resume));
}

/** Runs the node for a random time: callers send transactions, time passes, blocks are made. */
async function runFor(
  { pool }: SimulatedNode,
  clock: HandClock,
  announced: Announced,
  random: Random,
): Promise<void> {
  for (let left = 5 + random.below(60); left > 0; left--) {
    for (let count = random.below(4); count > 0; count--) {
      if (pool.add(aTransaction({ nonce: announced.nonce, gasPrice: 1n }), "local").ok) announced.nonce++;
    }
    if (random.below(3) === 0) clock.advanceTo(Math.max(clock.nextAlarmMs ?? 0, clock.nowMs() + 50));
    await runSlices(1 + random.below(4));
  }
}

async function expectNothingLost(chain: Chain, announced: Announced): Promise<void> {
  for (const [number, hash] of announced.heads) {
    const header = chain.headerByNumber(number);
    expect(header === undefined ? `block ${number} is lost` : toHex(header.hash)).toBe(toHex(hash));
  }
  for (const [transaction, block] of announced.receipts) {
    const located = chain.transactionByHash(Uint8Array.from(Buffer.from(transaction, "hex")) as Hash);
    expect(located === undefined ? `transaction ${transaction} is lost` : toDigits(located.block.hash)).toBe(
      block,
    );
  }
}

/** Several power cuts and restarts; rejects when anything announced is lost. */
async function surviveCuts(settings: ForgetfulSettings): Promise<void> {
  const random = generator(settings.seed);
  const clock = createHandClock(1_800_000_000_000);
  const announced: Announced = { heads: new Map(), receipts: new Map(), nonce: 0n };
  let disk = createForgetfulDisk(settings);
  for (let cut = 0; cut < CUTS_PER_SEED; cut++) {
    const node = await boot(disk, clock, announced);
    await expectNothingLost(node.chain, announced);
    const { chain } = node;
    announced.nonce = chain.stateAt(chain.head.header.number)?.account(aTransaction().sender)?.nonce ?? 0n;
    await runFor(node, clock, announced, random);
    disk = disk.powerCut();
    clock.advanceBy(random.below(5000));
  }
  const { chain, engine } = await boot(disk, clock, announced);
  await expectNothingLost(chain, announced);
  const before = chain.head.header.number;
  for (let left = 400; left > 0 && chain.head.header.number < before + 2n; left--) {
    clock.advanceTo(Math.max(clock.nextAlarmMs ?? 0, clock.nowMs() + 50));
    await runSlices(5);
  }
  expect(chain.head.header.number).toBeGreaterThanOrEqual(before + 2n);
  expect(announced.receipts.size).toBeGreaterThan(0);
  await engine.stop();
}

// Time passes by turns of the event loop here, and a busy machine takes any number of them to compile the interpreter.
beforeAll(loadInterpreter);

describe("a power cut", () => {
  it.each(Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index))(
    "loses no announced block and no answered receipt (IBEX_SEED=%i)",
    (seed) => surviveCuts({ seed }),
  );

  itIfThorough("is caught by this test when a disk confirms syncs too early", async () => {
    const seeds = Array.from({ length: 10 }, (_, index) => FIRST_SEED + index);
    const outcomes = [];
    for (const seed of seeds) {
      outcomes.push(
        await surviveCuts({ seed, syncs: "some time later" }).then(
          () => "survived",
          () => "caught",
        ),
      );
    }
    expect(outcomes).toContain("caught");
  });
});
