import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Chain } from "../../../src/chain/createChain.ts";
import { NoStateToRewindTo } from "../../../src/chain/rewindStep.ts";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { checkState } from "../../../src/state/verifyState.ts";
import { Batch } from "../../../src/storage/batch.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../../src/storage/blocks/blockStore.ts";
import { verifyNewest } from "../../../src/storage/blocks/verifyNewest.ts";
import { verifyChain } from "../../../src/storage/chainDatabase.ts";
import type { Database } from "../../../src/storage/database.ts";
import { findDamage } from "../../../src/storage/databaseCheck.ts";
import { commitKey, KEY_PREFIXES, numberRange, prefixRange } from "../../../src/storage/keys.ts";
import { createMemoryDatabase, type MemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { BlockRemoval, hasRemovable } from "../../../src/storage/removal/blockRemoval.ts";
import { readSchema } from "../../../src/storage/schema.ts";
import type { StoredBlock } from "../../../src/types/block.ts";
import { BlockRemoved } from "../../../src/types/blockRemoved.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { keepNewest } from "../../builders/keepNewest.ts";
import { aLongChain, type BlockContent } from "../../builders/longChain.ts";
import { createMemoryMarkerFile } from "../../builders/memoryMarkerFile.ts";
import { account } from "../../builders/testAccounts.ts";
import { someOf } from "../../thorough.ts";
import { generator } from "../random.ts";

const GENESIS = readFileSync(DEV_GENESIS_FILE, "utf8");
const SEEDS = [1, 2, 3, 4];
/** Kills that are looked at, of those at each write. */
const KILLS = 8;

/** A chain with empty blocks, small ones, and some of several chunks. */
async function aRandomChain(seed: number): Promise<{ chain: Chain; database: MemoryDatabase; head: number }> {
  const random = generator(seed);
  const database = createMemoryDatabase();
  const head = 20 + random.below(30);
  let nonce = 0n;
  const contentOf = (): BlockContent => {
    const count = [0, 0, 1, 1, 3, 128, 150][random.below(7)] ?? 0;
    const transactions = Array.from({ length: count }, () => aTransaction({ nonce: nonce++ }));
    const logs = transactions.map(() => [{ address: account(1).address, topics: [], data: random.bytes(9) }]);
    return { transactions, logs };
  };
  const stored = { database, ...(await verifyChain(database, createMemoryMarkerFile())) };
  return { chain: await aLongChain({ stored, head, contentOf, genesis: GENESIS }), database, head };
}

/** The database as the removal takes it; `onWrite` gets a copy before each of its writes, as a kill leaves it. */
function removable(database: MemoryDatabase, onWrite: (copy: MemoryDatabase) => void = () => undefined) {
  return {
    range: database.range,
    async write(batch: Parameters<Database["write"]>[0]) {
      onWrite(database.copy());
      await database.write(batch);
    },
    approximateBytes: async () => 0,
    compact: async () => undefined,
  };
}

async function removeAll(removal: BlockRemoval, until: bigint): Promise<void> {
  removal.startMoved(until);
  while (await removal.step()) await removal.compactSome(false);
  await removal.compactSome(true);
}

async function entriesOf(database: Pick<Database, "range">): Promise<readonly string[]> {
  const entries: string[] = [];
  for await (const [key, value] of database.range({ from: new Uint8Array(0), until: Uint8Array.of(0xff) }))
    entries.push(`${toHex(key)} ${toHex(value)}`);
  return entries;
}

async function damageOf(database: Database): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const damage of findDamage(database)) found.push(damage);
  return [...found, ...(await checkState(database)).damages];
}

function contentsOf(block: StoredBlock | undefined): unknown {
  if (block === undefined) return undefined;
  const { header, hash, totalDifficulty, size, transactions, receipts } = block;
  const logs = receipts.map(({ logs, logsBloom, ...receipt }) => ({ ...receipt, logs, logsBloom }));
  return { header, hash, totalDifficulty, size, raws: transactions.map(({ raw }) => raw), logs };
}

describe("the removal of old blocks, over random chains", () => {
  it.each(someOf(SEEDS))(
    "keeps everything else as on an archive, whenever it is killed: seed %i",
    async (seed) => {
      const random = generator(seed + 1000);
      const { chain, database, head } = await aRandomChain(seed);
      const archive = new BlockStore(BLOCK_STORE_LIMITS, { database: database.copy() });
      const kept = BigInt(5 + random.below(head - 8));
      const start = (await keepNewest(chain, kept)).blocks;
      expect(start).toBe(BigInt(head) - kept);
      const killed: MemoryDatabase[] = [database.copy()];
      const limits = { entries: 1 + random.below(3), bytes: 1 + random.below(100_000) };
      await removeAll(
        new BlockRemoval(
          removable(database, (copy) => killed.push(copy)),
          limits,
        ),
        start,
      );
      const whole = await entriesOf(database);
      const every = Math.ceil(killed.length / KILLS);
      const from = random.below(every);
      for (const copy of killed.filter((_, write) => write % every === from)) {
        await verifyNewest(copy);
        expect(await damageOf(copy), `seed ${seed}`).toEqual([]);
        const store = new BlockStore(BLOCK_STORE_LIMITS, { database: copy });
        for (let number = 0n; number <= BigInt(head); number++) {
          const expected = expectDefined(archive.block(number), "a block of the archive");
          expect(store.header(number)).toEqual(archive.header(number));
          expect(store.headerByHash(expected.hash)?.header.number).toBe(number);
          const isKept = number === 0n || number >= start;
          expect(contentsOf(store.block(number))).toEqual(isKept ? contentsOf(expected) : undefined);
          for (const { hash } of expected.transactions.slice(0, 2))
            expect(store.transactionByHash(hash)?.transaction.hash).toEqual(isKept ? hash : undefined);
        }
        await removeAll(new BlockRemoval(removable(copy)), start);
        expect(await entriesOf(copy), `seed ${seed}`).toEqual(whole);
      }
      expect(await hasRemovable(database)).toBe(false);
      for (const prefix of [KEY_PREFIXES.body, KEY_PREFIXES.receipts, KEY_PREFIXES.commit] as const)
        for await (const [key] of database.range(numberRange(prefix, { from: 1n, until: start })))
          expect.unreachable(`${toHex(key)} is left`);
      let transactions = 0;
      for await (const _ of database.range(prefixRange(KEY_PREFIXES.transaction))) transactions++;
      const numbers = Array.from({ length: Number(kept) + 1 }, (_, index) => start + BigInt(index));
      const counts = numbers.map((number) => archive.header(number)?.transactionCount ?? 0);
      expect(transactions).toBe(counts.reduce((sum, count) => sum + count, 0));
    },
  );
});

describe("a start of the history that moves", () => {
  it("is visible at once, and moves only forward", async () => {
    const { chain, head } = await aRandomChain(7);
    const old = expectDefined(chain.blockByNumber(3n), "an early block");
    expect((await keepNewest(chain, 10n)).blocks).toBe(BigInt(head) - 10n);
    expect(chain.historyStart.blocks).toBe(BigInt(head) - 10n);
    expect(chain.blockByNumber(3n)).toBeUndefined();
    expect(chain.blockByHash(old.hash)).toBeUndefined();
    expect(chain.headerByNumber(3n)?.hash).toEqual(old.hash);
    expect((await keepNewest(chain, 15n)).blocks).toBe(BigInt(head) - 10n);
    await expect(chain.rewind(BigInt(head) - 11n)).rejects.toThrow(NoStateToRewindTo);
    await chain.rewind(BigInt(head) - 10n);
    expect(chain.head.header.number).toBe(BigInt(head) - 10n);
  });

  it("never lies after the states, which need their blocks", async () => {
    const { chain, head } = await aRandomChain(6);
    expect((await chain.keepBlocks(5n)).blocks).toBe(0n);
    const states = BigInt(head) - 10n;
    expect(await chain.keepStates(10n)).toEqual({ headers: 0n, blocks: 0n, states });
    expect(await chain.keepBlocks(5n)).toEqual({ headers: 0n, blocks: states, states });
    expect((await chain.keepBlocks(15n)).blocks).toBe(states);
    expect(await chain.keepStates(8n)).toEqual({ headers: 0n, blocks: states, states: states + 2n });
  });

  it("lets a block that was handed out before say that it was removed, never a part of it", async () => {
    const { chain, database, head } = await aRandomChain(8);
    const numbers = Array.from({ length: head - 12 }, (_, index) => BigInt(index + 1));
    const full = numbers.find((number) => (chain.headerByNumber(number)?.header.gasUsed ?? 0n) > 0n);
    const store = new BlockStore(BLOCK_STORE_LIMITS, { database });
    const block = expectDefined(store.block(expectDefined(full, "a block with transactions")), "it");
    const start = (await keepNewest(chain, 10n)).blocks;
    await removeAll(new BlockRemoval(removable(database)), start);
    expect(() => block.transactions).toThrow(BlockRemoved);
    expect(() => block.receipts).toThrow(BlockRemoved);
  });

  it("marks the schema, so that earlier programs refuse the folder", async () => {
    const { chain, database } = await aRandomChain(9);
    expect(await readSchema(database)).toEqual({ version: 1 });
    await keepNewest(chain, 10n);
    expect(await readSchema(database)).toEqual({ version: 1, isPruned: true });
    const [, number] = expectDefined(database.get(Uint8Array.of(1, ...Buffer.from("schema"))), "the schema");
    expect(number).not.toBe(1);
  });
});

it("gives back the room of the commit records of blocks without transactions, and of those alone that it removed", async () => {
  const database = createMemoryDatabase();
  const until = 5_000n;
  const batch = new Batch();
  for (let number = 1n; number < until + 5n; number++) batch.put(commitKey(number), new Uint8Array(1_000));
  await database.write(batch);
  const compacted: string[] = [];
  const removal = new BlockRemoval({
    ...removable(database),
    async compact({ from, until: end }) {
      compacted.push(`${toHex(from)} ${toHex(end)}`);
    },
  });
  await removeAll(removal, until);
  expect(compacted).toEqual([`${toHex(commitKey(1n))} ${toHex(commitKey(until))}`]);
  expect(await entriesOf(database)).toHaveLength(5);
});
