import { existsSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Batch } from "../../src/storage/batch.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../src/storage/blocks/blockStore.ts";
import { type ChainDatabase, openChainDatabase, verifyChain } from "../../src/storage/chainDatabase.ts";
import { sealEntry } from "../../src/storage/checksum.ts";
import { DamagedData, type Database, DiskError } from "../../src/storage/database.ts";
import type { HeadMarker, LostEnd, LostEndAction } from "../../src/storage/headMarker.ts";
import { commitKey, headerKey, receiptsKey, transactionKey } from "../../src/storage/keys.ts";
import type { MarkerFile } from "../../src/storage/markerFile.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { putSchema } from "../../src/storage/schema.ts";
import { deletedLeavesKey, triePageKey } from "../../src/storage/stateKeys.ts";
import type { StoredBlock } from "../../src/types/block.ts";
import { createForgetfulDisk } from "../builders/forgetfulDisk.ts";
import { createMemoryMarkerFile } from "../builders/memoryMarkerFile.ts";
import { aStoredChain } from "./storedBlocks.ts";
import { temporaryFolder } from "./temporaryFolder.ts";

const chain = aStoredChain({ seed: 5, blocks: 4, transactions: 5 });
const [genesis, first, second, third] = chain as [StoredBlock, StoredBlock, StoredBlock, StoredBlock];

describe("the chain database on disk", () => {
  it("opens empty, then with the chain that was committed", async () => {
    const folder = temporaryFolder();
    await inFolder(folder, async (opened) => {
      expect(storeOver(opened.database).head()).toBeUndefined();
      await commit(opened, chain);
    });
    await inFolder(folder, async ({ database }) => {
      expect(storeOver(database).head()?.hash).toEqual(chain.at(-1)?.hash);
    });
  });

  it("refuses a database of another schema version, and says which", async () => {
    const folder = temporaryFolder();
    await inFolder(folder, async ({ database }) => {
      const batch = new Batch();
      putSchema(batch, { version: 7 });
      await database.write(batch);
    });
    const opening = inFolder(folder, async () => undefined);
    await expect(opening).rejects.toBeInstanceOf(DiskError);
    await expect(opening).rejects.toThrow(/schema version 7.*reads version 1 only/);
  });

  it("detects that the database is gone while the marker file has its head", async () => {
    const folder = temporaryFolder();
    await inFolder(folder, (opened) => commit(opened, chain));
    rmSync(join(folder, "chain"), { recursive: true });
    await expect(inFolder(folder, async () => undefined)).rejects.toThrow(
      /lost its end: block 4 .* was committed, but the database holds no block/,
    );
  });

  it("asks to delete a marker file without a valid slot, and opens without it", async () => {
    const folder = temporaryFolder();
    await inFolder(folder, (opened) => commit(opened, chain));
    writeFileSync(join(folder, "head.log"), new Uint8Array(600));
    await expect(inFolder(folder, async () => undefined)).rejects.toThrow(
      /head\.log\) is damaged.*delete this one/,
    );
    rmSync(join(folder, "head.log"));
    await inFolder(folder, async ({ database }) => {
      expect(storeOver(database).head()?.hash).toEqual(chain.at(-1)?.hash);
    });
    expect(existsSync(join(folder, "head.log"))).toBe(true);
  });

  it("leaves nothing open after a failed start", async () => {
    const folder = temporaryFolder();
    await inFolder(folder, (opened) => commit(opened, chain));
    truncateSync(join(folder, "head.log"), 0);
    await expect(inFolder(folder, async () => undefined)).rejects.toBeInstanceOf(DamagedData);
    rmSync(join(folder, "head.log"));
    await inFolder(folder, async () => undefined);
  });
});

describe("what a start verifies", () => {
  it("accepts a mark that lags behind the database, but none ahead of it or of another block", async () => {
    const { database, markerFile } = await aVerifiedChain();
    markerFile.write({ position: 2n, fingerprint: second.hash });
    await verifyChain(database, markerFile);
    markerFile.write({ position: 2n, fingerprint: third.hash });
    await expect(verifyChain(database, markerFile)).rejects.toThrow(/block 2 is damaged/i);
    markerFile.write({ position: 5n, fingerprint: third.hash });
    await expect(verifyChain(database, markerFile)).rejects.toThrow(/lost its end/);
  });

  it("goes on without a lost end where it may, unless more is damaged", async () => {
    const { database, markerFile } = await aVerifiedChain();
    const ahead = { position: 5n, fingerprint: third.hash };
    const mayFetch = ({ what, newest }: LostEnd): LostEndAction =>
      /block 5/.test(what) && newest.header.number === 4n ? "fetched" : "refused";
    markerFile.write(ahead);
    await verifyChain(database, markerFile, { judgeLostEnd: mayFetch });
    expect(markerFile.read()).toMatchObject({ position: 4n });
    markerFile.write(ahead);
    const batch = new Batch();
    batch.delete(commitKey(3n));
    await database.write(batch);
    await expect(verifyChain(database, markerFile, { judgeLostEnd: mayFetch })).rejects.toThrow(
      /commit record of block 3/,
    );
    expect(markerFile.read()).toEqual(ahead);
  });

  it("keeps the mark of a lost end until the very block is durable again, however often it starts in between", async () => {
    const { database, markerFile } = await aVerifiedChain();
    const ahead = { position: 4n, fingerprint: hashOf(4) };
    await goBack(database, [4n, 3n], second);
    markerFile.write(ahead);
    let timesWhole = 0;
    const restore = () =>
      verifyChain(database, markerFile, { judgeLostEnd: () => "restored" }, () => void timesWhole++);
    expect((await restore()).lost).toMatchObject({ number: 4n, hash: hashOf(4) });
    const again = await restore();
    await commit({ database, ...again }, [third]);
    expect(markerFile.read()).toEqual(ahead);
    expect((await restore()).lost).toMatchObject({ number: 4n });
    expect(timesWhole).toBe(0);
    await commit({ database, ...again }, chain.slice(4));
    expect([timesWhole, markerFile.read()]).toEqual([1, ahead]);
    expect((await restore()).lost).toBe(undefined);
  });

  it("takes the end as it is where writes are not synced, and tells what is lost", async () => {
    const { database, markerFile } = await aVerifiedChain();
    const lost: string[] = [];
    const onUnsyncedLoss = (what: string): void => void lost.push(what);
    const verify = () => verifyChain(database, markerFile, { onUnsyncedLoss });
    await verify();
    expect(lost).toEqual([]);
    markerFile.write({ position: 5n, fingerprint: third.hash });
    expect((await verify()).lost).toBe(undefined);
    expect(markerFile.read()).toMatchObject({ position: 4n });
    markerFile.write({ position: 3n, fingerprint: hashOf(2) });
    await verify();
    expect(lost).toEqual([
      expect.stringMatching(/^The database has lost its end: block 5 .* ends with block 4$/),
      expect.stringMatching(/^The database has another end: block 3 .* but another block is stored$/),
    ]);
    expect(markerFile.read()).toMatchObject({ position: 4n });
    const batch = new Batch();
    batch.delete(commitKey(3n));
    await database.write(batch);
    markerFile.write({ position: 5n, fingerprint: third.hash });
    await expect(verify()).rejects.toThrow(/commit record of block 3/);
    expect(lost).toHaveLength(2);
  });

  it("takes no damage for an end that was not synced", async () => {
    const { database, markerFile } = await aVerifiedChain();
    const lost: string[] = [];
    const verify = () =>
      verifyChain(database, markerFile, { onUnsyncedLoss: (what) => void lost.push(what) });
    markerFile.write({ position: 2n, fingerprint: third.hash });
    const batch = new Batch();
    batch.put(headerKey(2n), new Uint8Array(80));
    await database.write(batch);
    await expect(verify()).rejects.toThrow(/block 2 is damaged/i);
    const empty = verifyChain(createMemoryDatabase(), markerFile, {
      onUnsyncedLoss: (what) => void lost.push(what),
    });
    await expect(empty).rejects.toThrow(/holds no block/);
    expect(lost).toEqual([]);
  });

  it("refuses another block in the place of the lost one", async () => {
    const { database, markerFile } = await aVerifiedChain();
    await goBack(database, [4n], third);
    markerFile.write({ position: 4n, fingerprint: hashOf(2) });
    const restoring = await verifyChain(database, markerFile, { judgeLostEnd: () => "restored" });
    await expect(commit({ database, ...restoring }, chain.slice(4))).rejects.toThrow(
      /another block is stored/,
    );
  });

  it("accepts a rewind whose mark was lowered first, wherever it was interrupted", async () => {
    const { database, markerFile, headMarker } = await aVerifiedChain();
    headMarker.lower({ number: 1n, hash: first.hash });
    await verifyChain(database, markerFile);
    const lowered = createMemoryMarkerFile();
    lowered.write({ position: 1n, fingerprint: first.hash });
    const batch = new Batch();
    const store = storeOver(database);
    for (const number of [4n, 3n, 2n]) store.delete(batch, number);
    store.moveHead(batch, { header: first.header, hash: first.hash, totalDifficulty: 0n });
    await database.write(batch);
    await verifyChain(database, lowered);
  });

  it.each([
    [
      "a transaction's index entry is gone",
      third,
      (block: StoredBlock) => transactionKey(block.transactions[2]?.hash ?? block.hash),
    ],
    ["a commit record is gone", second, (block: StoredBlock) => commitKey(block.header.number)],
    ["a header is gone", second, (block: StoredBlock) => headerKey(block.header.number)],
  ])("detects that %s among the newest blocks", async (_, block, keyOf) => {
    const { database, markerFile } = await aVerifiedChain();
    const batch = new Batch();
    batch.delete(keyOf(block));
    await database.write(batch);
    const verifying = verifyChain(database, markerFile);
    await expect(verifying).rejects.toBeInstanceOf(DamagedData);
    await expect(verifying).rejects.toThrow(new RegExp(`block ${block.header.number}`, "i"));
  });

  it("detects a flipped byte of receipts, which are not decoded", async () => {
    const { database } = await aVerifiedChain();
    const key = receiptsKey(3n, 0);
    const batch = new Batch();
    batch.put(
      key,
      (database.get(key) ?? key).map((byte, at) => (at === 30 ? byte ^ 1 : byte)),
    );
    await database.write(batch);
    await expect(verifyChain(database, createMemoryMarkerFile())).rejects.toThrow(
      /An entry of block 3 .* is damaged: its checksum does not match/,
    );
  });

  it("detects that a block's batch is missing from the middle", async () => {
    const { database, markerFile } = await aVerifiedChain();
    const batch = new Batch();
    storeOver(database).delete(batch, 2n);
    await database.write(batch);
    await expect(verifyChain(database, markerFile)).rejects.toThrow(/block 2 is missing/i);
  });

  it("detects a block of another chain below the head, whole and with its own commit record", async () => {
    const { database, headMarker } = await aVerifiedChain();
    const other = aStoredChain({ seed: 6, blocks: 2, transactions: 5 })[2] as StoredBlock;
    const batch = new Batch();
    storeOver(database).delete(batch, 2n);
    await database.write(batch);
    await commit({ database, headMarker }, [other]);
    await moveHead(database, chain.at(-1) as StoredBlock);
    await expect(verifyChain(database, createMemoryMarkerFile())).rejects.toThrow(
      /block 2 is damaged: the chain above it names/i,
    );
  });

  describe("of the state trie that a block wrote", () => {
    const pageKey = triePageKey(3, 0, Uint8Array.of(0x12, 0x30), 3);
    const deletedKey = deletedLeavesKey(3, 0);

    async function withTrieEntries(damage: (database: Database, batch: Batch) => void): Promise<void> {
      const database = createMemoryDatabase();
      const opened = { database, ...(await verifyChain(database, createMemoryMarkerFile())) };
      await commit(opened, [genesis, first, second]);
      await commit(opened, [third], (batch) => {
        for (const key of [pageKey, deletedKey]) batch.put(key, sealEntry(key, new Uint8Array(40)));
      });
      await verifyChain(database, createMemoryMarkerFile());
      const batch = new Batch();
      damage(database, batch);
      await database.write(batch);
      await verifyChain(database, createMemoryMarkerFile());
    }

    it("detects that an entry is gone", async () => {
      for (const key of [pageKey, deletedKey])
        await expect(withTrieEntries((_, batch) => batch.delete(key))).rejects.toThrow(
          /The state trie of block 3 is damaged: its commit record counts 2 entries .* but 1 /,
        );
    });

    it("detects an entry that another write replaced, with a checksum of its own", async () => {
      await expect(
        withTrieEntries((_, batch) => batch.put(pageKey, sealEntry(pageKey, new Uint8Array(41)))),
      ).rejects.toThrow(/The state trie of block 3 is damaged/);
    });

    it("detects a flipped byte", async () => {
      for (const key of [pageKey, deletedKey])
        await expect(
          withTrieEntries((database, batch) =>
            batch.put(key, Uint8Array.from(database.get(key) ?? []).fill(1, 7, 8)),
          ),
        ).rejects.toThrow(/A trie page of block 3 .* is damaged: its checksum does not match/);
    });
  });

  it("detects that the head pointer went back alone", async () => {
    const { database } = await aVerifiedChain();
    await moveHead(database, second);
    await expect(verifyChain(database, createMemoryMarkerFile())).rejects.toThrow(/later blocks are stored/);
  });

  it("keeps committed blocks and a whole chain after every power cut", async () => {
    for (let seed = 0; seed < 60; seed++) {
      let disk = createForgetfulDisk({ seed });
      let committed = -1n;
      for (let cut = 0; cut < 4; cut++) {
        const opened = {
          database: disk.database,
          ...(await verifyChain(disk.database, disk.markerFile)),
        };
        const head = storeOver(disk.database).head()?.header.number ?? -1n;
        expect(head).toBeGreaterThanOrEqual(committed);
        const next = chain.slice(Number(head) + 1);
        void commit(opened, next, undefined, (block) => {
          committed = block.header.number;
        });
        for (let slices = (seed * 7 + cut * 3) % 12; slices > 0; slices--) await new Promise(setImmediate);
        disk = disk.powerCut();
      }
    }
  });
});

type Opened = Pick<ChainDatabase, "database" | "headMarker">;

async function inFolder(folder: string, use: (opened: ChainDatabase) => Promise<void>): Promise<void> {
  const opened = await openChainDatabase({ path: join(folder, "chain"), headFile: join(folder, "head.log") });
  try {
    await use(opened);
  } finally {
    await opened.close();
  }
}

async function commit(
  { database, headMarker }: Opened,
  blocks: readonly StoredBlock[],
  putMore: (batch: Batch) => void = () => undefined,
  onCommitted: (block: StoredBlock) => void = () => undefined,
): Promise<void> {
  const store = storeOver(database);
  for (const block of blocks) {
    const batch = new Batch();
    store.put(batch, block);
    putMore(batch);
    store.complete(batch, block);
    await database.write(batch);
    headMarker.record({ number: block.header.number, hash: block.hash });
    onCommitted(block);
  }
}

const hashOf = (number: number) => (chain[number] as StoredBlock).hash;

/** Takes blocks away as if they had never been written, down to `to`. */
async function goBack(database: Database, numbers: readonly bigint[], to: StoredBlock): Promise<void> {
  const batch = new Batch();
  const store = storeOver(database);
  for (const number of numbers) store.delete(batch, number);
  store.moveHead(batch, { header: to.header, hash: to.hash, totalDifficulty: 0n });
  await database.write(batch);
}

async function moveHead(database: Database, { header, hash }: StoredBlock): Promise<void> {
  const batch = new Batch();
  storeOver(database).moveHead(batch, { header, hash, totalDifficulty: 0n });
  await database.write(batch);
}

async function aVerifiedChain(): Promise<{
  database: Database;
  markerFile: MarkerFile;
  headMarker: HeadMarker;
}> {
  const database = createMemoryDatabase();
  const markerFile = createMemoryMarkerFile();
  const { headMarker } = await verifyChain(database, markerFile);
  await commit({ database, headMarker }, [genesis, first, second, third, ...chain.slice(4)]);
  await verifyChain(database, markerFile);
  return { database, markerFile, headMarker };
}

function storeOver(database: Database) {
  return new BlockStore(BLOCK_STORE_LIMITS, { database });
}
