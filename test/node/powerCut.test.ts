import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import type { Engine } from "../../src/consensus/engine.ts";
import { joinConsensus, startConsensus } from "../../src/node/consensus.ts";
import { nodeKey } from "../../src/node/nodeKey.ts";
import { createPoolView } from "../../src/node/poolView.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import type { Hash } from "../../src/primitives/hash.ts";
import { toDigits, toHex } from "../../src/primitives/hex.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../src/txpool/limits.ts";
import { createTxPool, type TxPool } from "../../src/txpool/txPool.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import {
  createForgetfulDisk,
  type ForgetfulDisk,
  type ForgetfulSettings,
} from "../builders/forgetfulDisk.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";
import { generator, type Random } from "../storage/random.ts";

/** The daily run; the long run asks for more (`npm run test:long`). */
const SEEDS = Number(process.env["IBEX_POWER_CUTS"] ?? 10);
const FIRST_SEED = Number(process.env["IBEX_SEED"] ?? 1);
const CUTS_PER_SEED = 5;

const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
const key = nodeKey(DEV_VALIDATOR_KEY);

/** Chain, pool and consensus as a node joins them, on a disk that forgets what was not synced. */
interface Machine {
  readonly chain: Chain;
  readonly pool: TxPool;
  readonly engine: Engine;
}

/** What the outside world has been told, and may therefore rely on. */
interface Known {
  readonly heads: Map<bigint, Hash>;
  readonly receipts: Map<string, string>;
  nonce: bigint;
}

async function boot(disk: ForgetfulDisk, clock: HandClock, known: Known): Promise<Machine> {
  const { database, markerFile, voteLog } = disk;
  const { chain, spec, world } = await aChain({ genesis, database, markerFile, clock, builder: key.address });
  const pool = createTxPool(DEFAULT_TX_POOL_LIMITS, {
    chain: createPoolView(spec, chain, world.head, clock),
    clock,
  });
  chain.onHeadChanged((change) => {
    pool.headChanged(change);
    for (const { header, hash, transactions } of change.added) {
      known.heads.set(header.number, hash);
      for (const transaction of transactions) known.receipts.set(toDigits(transaction.hash), toDigits(hash));
    }
  });
  const onFailure = (error: unknown): void => {
    throw error;
  };
  const engine = joinConsensus({
    spec,
    chain,
    pool,
    key,
    outbox: { multicast: () => undefined },
    voteLog,
    clock,
    logger: silentLogger,
    onFailure,
    onBegun: () => undefined,
  });
  expect(startConsensus(engine, chain).ok).toBe(true);
  return { chain, pool, engine };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resume) => setImmediate(resume));
}

/** Runs the machine for a random while: callers send, time passes, blocks are made. */
async function live({ pool }: Machine, clock: HandClock, known: Known, random: Random): Promise<void> {
  for (let left = 5 + random.below(60); left > 0; left--) {
    for (let count = random.below(4); count > 0; count--) {
      if (pool.add(aTransaction({ nonce: known.nonce, gasPrice: 1n }), "local").ok) known.nonce++;
    }
    if (random.below(3) === 0) clock.advanceTo(Math.max(clock.nextAlarmMs ?? 0, clock.nowMs() + 50));
    await turns(1 + random.below(4));
  }
}

async function expectNothingLost(chain: Chain, known: Known): Promise<void> {
  for (const [number, hash] of known.heads) {
    const header = chain.headerByNumber(number);
    expect(header === undefined ? `block ${number} is lost` : toHex(header.hash)).toBe(toHex(hash));
  }
  for (const [transaction, block] of known.receipts) {
    const located = chain.transactionByHash(Uint8Array.from(Buffer.from(transaction, "hex")) as Hash);
    expect(located === undefined ? `transaction ${transaction} is lost` : toDigits(located.block.hash)).toBe(
      block,
    );
  }
}

/** Several power cuts and restarts; rejects when anything is lost that the outside world was told of. */
async function surviveCuts(settings: ForgetfulSettings): Promise<void> {
  const random = generator(settings.seed);
  const clock = createHandClock(1_800_000_000_000);
  const known: Known = { heads: new Map(), receipts: new Map(), nonce: 0n };
  let disk = createForgetfulDisk(settings);
  for (let cut = 0; cut < CUTS_PER_SEED; cut++) {
    const machine = await boot(disk, clock, known);
    await expectNothingLost(machine.chain, known);
    const { chain } = machine;
    known.nonce = chain.stateAt(chain.head.header.number)?.account(aTransaction().sender)?.nonce ?? 0n;
    await live(machine, clock, known, random);
    disk = disk.powerCut();
    clock.advanceBy(random.below(5000));
  }
  const { chain, engine } = await boot(disk, clock, known);
  await expectNothingLost(chain, known);
  const before = chain.head.header.number;
  for (let left = 400; left > 0 && chain.head.header.number < before + 2n; left--) {
    clock.advanceTo(Math.max(clock.nextAlarmMs ?? 0, clock.nowMs() + 50));
    await turns(5);
  }
  expect(chain.head.header.number).toBeGreaterThanOrEqual(before + 2n);
  expect(known.receipts.size).toBeGreaterThan(0);
  await engine.stop();
}

describe("a power cut", () => {
  it.each(Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index))(
    "loses no announced block and no answered receipt (IBEX_SEED=%i)",
    (seed) => surviveCuts({ seed }),
    20_000,
  );

  it("is caught by this test when a disk says too early that it has written", async () => {
    const trials = Array.from({ length: 10 }, (_, index) => FIRST_SEED + index);
    const outcomes = [];
    for (const seed of trials) {
      outcomes.push(
        await surviveCuts({ seed, syncs: "some time later" }).then(
          () => "survived",
          () => "caught",
        ),
      );
    }
    expect(outcomes).toContain("caught");
  }, 60_000);
});
