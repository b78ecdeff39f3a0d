import { openSync, readdirSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { silentLogger } from "../../../src/observability/logger.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { Batch } from "../../../src/storage/batch.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../../src/storage/blocks/blockStore.ts";
import { openChainDatabase } from "../../../src/storage/chainDatabase.ts";
import { transactionKey } from "../../../src/storage/keys.ts";
import { scrubBlocks } from "../../../src/storage/leveldb/scrubBlocks.ts";
import { Scrubber } from "../../../src/storage/leveldb/scrubber.ts";
import type { StoredBlock } from "../../../src/types/block.ts";
import { aStoredChain } from "../storedBlocks.ts";
import { temporaryFolder } from "../temporaryFolder.ts";

const CHAIN = aStoredChain({ seed: 7, blocks: 6, transactions: 5 });

/** An open database with those blocks, some in a table and some in the log of LevelDB. */
async function openFolder(blocks: readonly StoredBlock[]) {
  const folder = temporaryFolder();
  const paths = { path: join(folder, "chain"), headFile: join(folder, "head.log") };
  for (const part of [blocks.slice(0, 3), blocks.slice(3)]) {
    const { database, headMarker, close } = await openChainDatabase(paths);
    const store = new BlockStore(BLOCK_STORE_LIMITS, { database });
    for (const block of part) {
      const batch = new Batch();
      store.put(batch, block);
      store.complete(batch, block);
      await database.write(batch);
      headMarker.record({ number: block.header.number, hash: block.hash });
    }
    await close();
  }
  return { path: paths.path, ...(await openChainDatabase(paths)) };
}

/** The message with which the first round ends. */
async function firstRound(path: string): Promise<string> {
  return new Promise((resolve) => {
    const finish = (message: string): void => {
      void scrubber.close().then(() => resolve(message));
    };
    const scrubber = new Scrubber(
      { path, pauseMs: 1 },
      {
        clock: systemClock,
        logger: {
          ...silentLogger,
          info: (facts, message) => finish(`${message} ${JSON.stringify(facts)}`),
          warn: (facts, message) => finish(`${message} ${JSON.stringify(facts)}`),
        },
        onDamage: ({ message }) => finish(message),
      },
    );
  });
}

it("verifies all tables and blocks of a sound database", async () => {
  const { path, close } = await openFolder(CHAIN);
  expect(await firstRound(path)).toMatch(
    new RegExp(
      `^the whole database was verified and is sound {"tables":\\d+,"bytes":\\d+,"blocks":${CHAIN.length}}$`,
    ),
  );
  await close();
});

it("reports the table with a damaged byte while the database is open, and what to do", async () => {
  const { path, close } = await openFolder(CHAIN);
  const table = join(path, readdirSync(path).find((name) => name.endsWith(".ldb")) ?? "");
  writeSync(openSync(table, "r+"), Uint8Array.of(0xff, 0xff, 0xff), 0, 3, 100);
  const message = await firstRound(path);
  expect(message).toContain(`${table}: the block at byte 0 does not match its checksum`);
  expect(message).toContain("ibex database check");
  await close();
});

it("detects an entry that is missing without a trace, as after the compaction of a damaged table", async () => {
  const { path, database, close } = await openFolder(CHAIN);
  const key = transactionKey(expectDefined(CHAIN[2]?.transactions[3], "a transaction of block 2").hash);
  const batch = new Batch();
  batch.delete(key);
  await database.write(batch);
  expect(await firstRound(path)).toContain(
    `An entry of block 2 (key ${toHex(key)}) is missing from the database`,
  );
  await close();
});

it("goes on below a rewind that removes blocks during the round", async () => {
  const { database, close } = await openFolder(CHAIN);
  const store = new BlockStore(BLOCK_STORE_LIMITS, { database });
  const rewind = async (): Promise<void> => {
    const batch = new Batch();
    for (const number of [5n, 4n, 3n]) store.delete(batch, number);
    store.moveHead(batch, expectDefined(store.header(2n), "block 2"));
    await database.write(batch);
    store.forgetAbove(2n);
  };
  const entries: number[] = [];
  const blocks = await scrubBlocks(database, async (read) => {
    entries.push(read);
    if (entries.length === 1) await rewind();
  });
  expect(blocks).toBe(CHAIN.length);
  // Block 5, before it was removed, then 2, 1, 0.
  expect(entries).toHaveLength(4);
  await close();
});
