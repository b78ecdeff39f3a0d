import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { Batch } from "../../../src/storage/batch.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../../src/storage/blocks/blockStore.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { type StoredBlock, transactionAt } from "../../../src/types/block.ts";
import { casesOf } from "../../thorough.ts";
import { aStoredChain } from "../storedBlocks.ts";

/** A store that has the blocks on the disk alone. */
async function storeOf(blocks: readonly StoredBlock[], blockBytes: number): Promise<BlockStore> {
  const database = createMemoryDatabase();
  const writer = new BlockStore(BLOCK_STORE_LIMITS, { database });
  for (const block of blocks) {
    const batch = new Batch();
    writer.put(batch, block);
    writer.complete(batch, block);
    await database.write(batch);
  }
  return new BlockStore({ headers: 10, blockBytes }, { database });
}

describe("lookups of single transactions and receipts", () => {
  it("give what the whole block has, in any order, from the disk and after a read of the whole block", async () => {
    const anIndex = fc.nat(299);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1_000_000),
        fc.constantFrom(1, 127, 128, 129, 300),
        fc.array(fc.tuple(anIndex, fc.constantFrom("transaction", "receipt", "byIndex", "whole")), {
          minLength: 1,
          maxLength: 60,
        }),
        // One has room for everything, the other for next to nothing.
        fc.constantFrom(64 * 1024 ** 2, 20_000),
        async (seed, transactions, lookups, blockBytes) => {
          const chain = aStoredChain({ seed, blocks: 1, transactions });
          const head = expectDefined(chain[1], "the head");
          const store = await storeOf(chain, blockBytes);
          const firstLogs = [0];
          for (const { logs } of head.receipts) firstLogs.push((firstLogs.at(-1) ?? 0) + logs.length);
          for (const [number, kind] of lookups) {
            const index = number % transactions;
            const expected = expectDefined(head.transactions[index], "a transaction");
            const stored = expectDefined(store.block(1n), "the block");
            if (kind === "whole")
              expect(stored.receipts.length + stored.transactions.length).toBe(2 * transactions);
            if (kind === "byIndex") {
              expect(transactionAt(stored, index)).toEqual(expected);
              expect(transactionAt(stored, transactions + number)).toBeUndefined();
            }
            const found = expectDefined(store.transactionByHash(expected.hash), "a stored transaction");
            expect([found.index, found.transaction]).toEqual([index, expected]);
            if (kind !== "receipt") continue;
            const { receipt, firstLogIndex } = found;
            expect({ ...receipt, logsBloom: receipt.logsBloom }).toEqual(head.receipts[index]);
            expect(firstLogIndex).toBe(firstLogs[index]);
          }
        },
      ),
      { numRuns: casesOf(100) },
    );
  });
});
