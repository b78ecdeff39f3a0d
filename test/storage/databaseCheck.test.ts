import { describe, expect, it } from "vitest";
import { expectDefined } from "../../src/primitives/assert.ts";
import { Batch } from "../../src/storage/batch.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../src/storage/blocks/blockStore.ts";
import { sealEntry } from "../../src/storage/checksum.ts";
import type { Database } from "../../src/storage/database.ts";
import { findDamage, findDamagedBlocks } from "../../src/storage/databaseCheck.ts";
import { bodyKey, commitKey, headerKey, transactionKey } from "../../src/storage/keys.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { codeKey, trieKeysFrom } from "../../src/storage/stateKeys.ts";
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
    const batch = new Batch();
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

  it("finds lost, damaged and surplus trie pages of any block in one pass over all pages", async () => {
    const database = await aDatabase();
    const batch = new Batch();
    batch.put(pageKey(5, 9), sealEntry(pageKey(5, 9), Uint8Array.of(5)));
    batch.put(pageKey(4, 1), Uint8Array.of(1, 2, 3, 4, 5));
    batch.delete(pageKey(2, 0));
    await database.write(batch);
    let ranges = 0;
    const counted: Database = {
      ...database,
      range(range) {
        ranges++;
        return database.range(range);
      },
    };
    const damages: string[] = [];
    for await (const damage of findDamagedBlocks(counted)) damages.push(damage);
    expect(damages).toEqual([
      expect.stringMatching(/^The state trie of block 5 is damaged: .* counts 3 entries .* but 4 /),
      expect.stringMatching(/^A trie page of block 4 .*its checksum does not match/),
      expect.stringMatching(/^The state trie of block 2 is damaged: .* counts 3 entries .* but 2 /),
    ]);
    expect(ranges).toBe(1);
  });

  it("reports a whole block that is not the parent of the next one", async () => {
    const database = await aDatabase();
    const other = aStoredChain({ seed: 4, blocks: 2, transactions: 3 })[2] as StoredBlock;
    const batch = new Batch();
    const store = new BlockStore(BLOCK_STORE_LIMITS, { database });
    store.delete(batch, 2n);
    store.put(batch, other);
    for (const page of [0, 1, 2]) batch.delete(pageKey(2, page));
    store.complete(batch, other);
    store.moveHead(batch, chain.at(-1) as StoredBlock);
    await database.write(batch);
    expect(await damagesOf(database)).toEqual([
      "Block 2 is not the parent that block 3 names.",
      "Block 1 is not the parent that block 2 names.",
    ]);
  });
});

/** The key of one of the trie pages of a block. */
function pageKey(block: number, page: number): Uint8Array {
  return Uint8Array.of(...trieKeysFrom(block).from, 0, 0, 0, 0, 0, 0, 2, page);
}

async function aDatabase(): Promise<Database> {
  const database = createMemoryDatabase();
  const store = new BlockStore(BLOCK_STORE_LIMITS, { database });
  for (const block of chain) {
    const batch = new Batch();
    store.put(batch, block);
    for (const page of [0, 1, 2]) {
      const key = pageKey(Number(block.header.number), page);
      batch.put(key, sealEntry(key, Uint8Array.of(page)));
    }
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
