import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import type { BulkImport } from "../../../src/chain/bulk/bulkImport.ts";
import type { GroupLimits } from "../../../src/chain/bulk/limits.ts";
import type { Chain } from "../../../src/chain/createChain.ts";
import type { HeadChange } from "../../../src/chain/onNewHead.ts";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { recoverItem } from "../../../src/primitives/recoveryBatch.ts";
import type { Result } from "../../../src/primitives/result.ts";
import { findBlocksWithoutState } from "../../../src/state/missingStates.ts";
import { checkState } from "../../../src/state/verifyState.ts";
import { type Database, DiskError } from "../../../src/storage/database.ts";
import { findDamage } from "../../../src/storage/databaseCheck.ts";
import { headerKey } from "../../../src/storage/keys.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { type Block, decodeBlock, type NamedHeader } from "../../../src/types/block.ts";
import { hashOfHeader } from "../../../src/types/blockHash.ts";
import { aChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { createForgetfulDisk, type ForgetfulDisk } from "../../builders/forgetfulDisk.ts";
import { sealedDevBlocks } from "../../builders/sealedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { generator } from "../../storage/random.ts";

const SEED = Number(process.env["IBEX_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const CUTS = Number(process.env["IBEX_POWER_CUTS"] ?? "20");
const BLOCKS = 12;
const GENESIS = readFileSync(DEV_GENESIS_FILE, "utf8");
/** A group ends only when the import is closed. */
const ONE_GROUP: GroupLimits = { bytes: 2 ** 30, ms: 2 ** 30, blocks: 2 ** 30, transactions: 2 ** 30 };

/** Blocks 1 to BLOCKS of the development network. */
let blocks: readonly Block[] = [];

beforeAll(async () => {
  const bodies = Array.from({ length: BLOCKS - 2 }, (_, block) =>
    Array.from({ length: block % 4 }, (_, index) =>
      aTransaction({ nonce: BigInt(index), privateKey: account(block % 10).privateKey, value: 1n }),
    ),
  );
  const encoded = await sealedDevBlocks([...bodies, [], []]);
  blocks = encoded.slice(1).map((bytes) => {
    const block = decodeBlock(bytes);
    if (!block.ok) throw new Error(block.error.message);
    return block.value;
  });
});

async function chainOn(disk: Pick<ForgetfulDisk, "database" | "markerFile">): Promise<Chain> {
  return (await aChain({ genesis: GENESIS, ...disk })).chain;
}

async function chainIn(database: Database): Promise<Chain> {
  return (await aChain({ genesis: GENESIS, database })).chain;
}

/** Imports blocks whose headers are valid; the result of each. */
async function importAll(
  chain: Chain,
  bulk: BulkImport,
  some: readonly Block[],
): Promise<Result<NamedHeader>[]> {
  const run = chain.headerRun(bulk.tip);
  const { checked, error } = await run.extend(some.map(({ header }) => header));
  expect(error).toBe(undefined);
  const results: Result<NamedHeader>[] = [];
  for (const [index, header] of checked.entries()) {
    const { header: _, ...body } = expectDefined(some[index], "a block");
    results.push(await bulk.importBlock(chain.prepareBlock({ header, body })));
  }
  return results;
}

async function damageOf({ database }: ForgetfulDisk): Promise<readonly string[]> {
  const damages = [...findBlocksWithoutState(database), ...(await checkState(database)).damages];
  for await (const damage of findDamage(database)) damages.push(damage);
  return damages;
}

/** A database whose writes are readable at once, and durable once the gate is open. */
class GatedDatabase {
  readonly database: Database;
  private gate: Promise<void> = Promise.resolve();
  open: () => void = () => undefined;

  constructor() {
    const inner = createMemoryDatabase();
    this.database = {
      ...inner,
      write: async (batch) => {
        await inner.write(batch);
        await this.gate;
      },
    };
  }

  close(): void {
    this.gate = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}

/** Everything that readers can ask about these blocks. */
function seenOf(chain: Chain, some: readonly Block[]): readonly unknown[] {
  return some.flatMap(({ header: { number }, transactions }) => {
    const hash = hashOfHeader(expectDefined(blocks[Number(number) - 1], "a block").header);
    if (!hash.ok) throw new Error(hash.error.message);
    return [
      chain.headerByNumber(number)?.hash,
      chain.headerByHash(hash.value)?.hash,
      chain.blockByNumber(number)?.hash,
      chain.blockByHash(hash.value)?.transactions.length,
      ...transactions.map((transaction) => chain.transactionByHash(transaction.hash)?.index),
      chain.stateAt(number)?.account(account(1).address)?.nonce,
    ];
  });
}

describe(`a bulk import (IBEX_SEED=${SEED})`, () => {
  it(`leaves a sound prefix after a power cut, at least what was the head, ${CUTS} cuts`, async () => {
    for (let seed = SEED; seed < SEED + CUTS; seed++) {
      const why = `IBEX_SEED=${seed}`;
      const random = generator(seed);
      const limits = { ...ONE_GROUP, bytes: 1 + random.below(20_000) };
      let disk = createForgetfulDisk({ seed });
      const chain = await chainOn(disk);
      const imported = random.below(BLOCKS + 1);
      const bulk = await chain.bulkImport(limits);
      for (const { ok } of await importAll(chain, bulk, blocks.slice(0, imported)))
        expect(ok, why).toBe(true);
      if (random.below(2) === 0) await bulk.close();
      const shown = chain.head.header.number;
      disk = disk.powerCut();
      expect(await damageOf(disk), why).toEqual([]);
      const again = await chainOn(disk);
      const found = again.head.header.number;
      expect(found, why).toBeLessThanOrEqual(BigInt(imported));
      expect(found, why).toBeGreaterThanOrEqual(shown);
      const rest = await again.bulkImport(limits);
      await importAll(again, rest, blocks.slice(Number(found)));
      await rest.close();
      expect(again.head.header.number, why).toBe(BigInt(BLOCKS));
      expect(await damageOf(disk), why).toEqual([]);
    }
  });

  it("shows no block before it is durable, and then the head with all blocks of the group", async () => {
    const gated = new GatedDatabase();
    const chain = await chainIn(gated.database);
    const changes: HeadChange[] = [];
    chain.onHeadChanged("metrics", (change) => void changes.push(change));
    const genesis = chain.head;
    gated.close();
    const bulk = await chain.bulkImport({ ...ONE_GROUP, blocks: 5 });
    await importAll(chain, bulk, blocks.slice(0, 8));
    expect(bulk.tip.header.number).toBe(8n);
    expect(chain.head).toBe(genesis);
    expect(seenOf(chain, blocks).filter((seen) => seen !== undefined)).toEqual([]);
    expect(chain.validatorsFor(2n)).toBe(undefined);
    const before = chain.stateAt(0n)?.account(account(1).address);
    expect(chain.stateAt(chain.head.header.number)?.account(account(1).address)).toEqual(before);
    gated.open();
    await bulk.close();
    expect(
      changes.map(({ head, added }) => [head.header.number, added.map(({ header }) => header.number)]),
    ).toEqual([
      [5n, [1n, 2n, 3n, 4n, 5n]],
      [8n, [6n, 7n, 8n]],
    ]);
    expect(seenOf(chain, blocks.slice(0, 8))).not.toContain(undefined);
    expect(seenOf(chain, blocks.slice(8)).filter((seen) => seen !== undefined)).toEqual([]);
    const alone = await chainIn(createMemoryDatabase());
    for (const block of blocks.slice(0, 8)) await alone.importBlock(block);
    expect(seenOf(chain, blocks)).toEqual(seenOf(alone, blocks));
    expect(chain.tallyAfter(chain.head)).toEqual(alone.tallyAfter(alone.head));
    const [ninth] = blocks.slice(8);
    expect((await chain.importBlock(expectDefined(ninth, "block 9"))).ok).toBe(true);
  });

  it("keeps no block in memory, so that what callers read stays there", async () => {
    const database = createMemoryDatabase();
    const read = new Set<string>();
    const chain = await chainIn({
      ...database,
      get: (key) => {
        read.add(toHex(key));
        return database.get(key);
      },
    });
    const bulk = await chain.bulkImport(ONE_GROUP);
    await importAll(chain, bulk, blocks);
    await bulk.close();
    for (const { header } of blocks) {
      read.clear();
      chain.blockByNumber(header.number);
      expect([...read]).toContain(toHex(headerKey(header.number)));
    }
  });

  it("keeps the blocks before one whose body is invalid, and reports that one as bad", async () => {
    const chain = await chainIn(createMemoryDatabase());
    const bulk = await chain.bulkImport();
    const altered = blocks.map((block) =>
      block.header.number === 4n ? { ...block, transactions: block.transactions.slice(1) } : block,
    );
    const results = await importAll(chain, bulk, altered.slice(0, 5));
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true, false, false]);
    expect(results[3]).toMatchObject({ error: { code: "wrongTransactionsRoot", fault: "peer" } });
    expect(results[4]).toMatchObject({ error: { code: "notAfterHead", fault: "local" } });
    await bulk.close();
    expect(chain.head.header.number).toBe(3n);
    expect(chain.badBlocks().map(({ header }) => header.number)).toEqual([4n]);
  });

  it("keeps others from moving the head until it is closed, and tells that they wait", async () => {
    const chain = await chainIn(createMemoryDatabase());
    const bulk = await chain.bulkImport(ONE_GROUP);
    await importAll(chain, bulk, blocks.slice(0, 2));
    expect(bulk.isOthersTurn).toBe(false);
    const third = chain.importBlock(expectDefined(blocks[2], "block 3"));
    const next = chain.bulkImport();
    expect(bulk.isOthersTurn).toBe(true);
    expect(chain.head.header.number).toBe(0n);
    await bulk.close();
    expect((await third).ok).toBe(true);
    expect((await next).tip.header.number).toBe(3n);
    await (await next).close();
  });

  it("fails for good when the disk does, shows nothing of that, and lets others go on", async () => {
    const inner = createMemoryDatabase();
    let isFull = false;
    const chain = await chainIn({
      ...inner,
      write: async (batch) => {
        if (isFull) throw new DiskError("no room");
        await inner.write(batch);
      },
    });
    isFull = true;
    const bulk = await chain.bulkImport({ ...ONE_GROUP, blocks: 2 });
    await expect(importAll(chain, bulk, blocks.slice(0, 6))).rejects.toThrow("no room");
    await expect(bulk.close()).rejects.toThrow("no room");
    expect(chain.head.header.number).toBe(0n);
    isFull = false;
    expect((await chain.importBlock(expectDefined(blocks[0], "block 1"))).ok).toBe(true);
  });

  it("ends a group at each of its limits", async () => {
    const limits: readonly Partial<GroupLimits>[] = [
      { bytes: 1 },
      { ms: 0 },
      { blocks: 1 },
      { transactions: 1 },
    ];
    for (const limit of limits) {
      const chain = await chainIn(createMemoryDatabase());
      let changes = 0;
      chain.onHeadChanged("metrics", () => void changes++);
      const bulk = await chain.bulkImport({ ...ONE_GROUP, ...limit });
      // All but one of the first four have transactions.
      await importAll(chain, bulk, blocks.slice(0, 4));
      await bulk.close();
      expect(changes, JSON.stringify(limit)).toBe("transactions" in limit ? 3 : 4);
    }
  });
});

describe("a run of headers", () => {
  it("passes those before the first invalid one, recovers the seals of all at once, and goes on after them", async () => {
    const batches: number[] = [];
    const { chain } = await aChain({
      genesis: GENESIS,
      recoverSigners: async (items) => {
        batches.push(items.length);
        return items.map(recoverItem);
      },
    });
    const headers = blocks.map(({ header }) => header);
    const run = chain.headerRun(chain.head);
    const forged = headers.map((header) =>
      header.number === 4n
        ? { ...header, extraData: expectDefined(headers[4], "block 5").extraData }
        : header,
    );
    const first = await run.extend(forged.slice(0, 6));
    expect(first.checked.map(({ header }) => header.number)).toEqual([1n, 2n, 3n]);
    expect(first.error).toMatchObject({ code: "sealerNotValidator", fault: "peer" });
    expect(batches).toEqual([6]);
    const broken = await run.extend(headers.slice(4, 6));
    expect([broken.checked, broken.error?.code]).toEqual([[], "wrongParent"]);
    const rest = await run.extend(headers.slice(3));
    expect(rest.error).toBe(undefined);
    expect(run.last.header.number).toBe(BigInt(BLOCKS));
    expect(rest.checked.at(-1)?.totalDifficulty).toBe(chain.head.totalDifficulty + BigInt(BLOCKS));
  });
});
