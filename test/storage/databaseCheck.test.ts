import { describe, expect, it } from "vitest";
import { expectDefined } from "../../src/primitives/assert.ts";
import { createBatch } from "../../src/storage/batch.ts";
import { BLOCK_STORE_LIMITS, createBlockStore } from "../../src/storage/blocks/blockStore.ts";
import type { Database } from "../../src/storage/database.ts";
import { findDamage } from "../../src/storage/databaseCheck.ts";
import { bodyKey, commitKey, headerKey, transactionKey } from "../../src/storage/keys.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { codeKey } from "../../src/storage/stateKeys.ts";
import type { StoredBlock } from "../../src/types/block.ts";
import { aStoredChain } from "./storedBlocks.ts";

const chain = aStoredChain({ seed: 3, blocks: 6, transactions: 3 });

describe("the check of the whole database", () => {
  it("finds nothing in a sound one", async () => {
    expect(await damagesOf(await aDatabase())).toEqual([]);
    expect(await damagesOf(createMemoryDatabase())).toEqual([]);
  });

  it("reports each damage, at any depth below the head", async () => {
    const database = await aDatabase();
    const batch = createBatch();
    batch.put(headerKey(1n), Uint8Array.from(database.get(headerKey(1n)) ?? []).fill(1, 5, 9));
    batch.delete(bodyKey(2n, 0));
    batch.delete(commitKey(3n));
    batch.delete(transactionKey(expectDefined(chain[4]?.transactions[0], "a transaction of block 4").hash));
    batch.put(codeKey(new Uint8Array(32)), Uint8Array.of(1));
    await database.write(batch);
    const damages = await damagesOf(database);
    for (const block of [1, 2, 3, 4])
      expect(damages.filter((damage) => new RegExp(`block ${block}\\b`, "i").test(damage))).not.toEqual([]);
    expect(damages.some((damage) => damage.startsWith("The code 0x00"))).toBe(true);
    expect(damages.some((damage) => /block [056]\b/i.test(damage))).toBe(false);
  });

  it("reports a whole block that is not the parent of the next one", async () => {
    const database = await aDatabase();
    const other = aStoredChain({ seed: 4, blocks: 2, transactions: 3 })[2] as StoredBlock;
    const batch = createBatch();
    const store = createBlockStore(BLOCK_STORE_LIMITS, { database });
    store.delete(batch, 2n);
    store.put(batch, other);
    store.complete(batch, other);
    store.moveHead(batch, chain.at(-1) as StoredBlock);
    await database.write(batch);
    expect(await damagesOf(database)).toEqual([
      "Block 2 is not the parent that block 3 names.",
      "Block 1 is not the parent that block 2 names.",
    ]);
  });
});

async function aDatabase(): Promise<Database> {
  const database = createMemoryDatabase();
  const store = createBlockStore(BLOCK_STORE_LIMITS, { database });
  for (const block of chain) {
    const batch = createBatch();
    store.put(batch, block);
    store.complete(batch, block);
    await database.write(batch);
  }
  return database;
}

async function damagesOf(database: Database): Promise<readonly string[]> {
  const damages: string[] = [];
  for await (const damage of findDamage(database)) damages.push(damage);
  return damages;
}
