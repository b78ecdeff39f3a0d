import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChainReader } from "../../../src/chain/chainReader.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { joinBytes } from "../../../src/primitives/hex.ts";
import { joinPieces } from "../../../src/primitives/jsonPieces.ts";
import { type Answer, JsonPieces, RawJson } from "../../../src/rpc/method.ts";
import { blockAnswer, blockJson } from "../../../src/rpc/results/blockResult.ts";
import { Batch } from "../../../src/storage/batch.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../../src/storage/blocks/blockStore.ts";
import { DamagedData, type Database } from "../../../src/storage/database.ts";
import { WHOLE_HISTORY } from "../../../src/storage/historyStart.ts";
import { bodyKey } from "../../../src/storage/keys.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { hashesOf, type StoredBlock, transactionCountOf } from "../../../src/types/block.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aStoredChain } from "../../storage/storedBlocks.ts";
import { itIfThorough } from "../../thorough.ts";

const pool = (aStoredChain({ seed: 6, blocks: 1, transactions: 60 })[1] as StoredBlock).transactions;

/** A block of so many transactions, of all types. */
function aBlockOf(count: number, shift = 0): StoredBlock {
  const transactions = Array.from({ length: count }, (_, index) =>
    expectDefined(pool[(index * 7 + shift) % pool.length], "a transaction of the pool"),
  );
  return aStoredBlock({ number: 1, transactions });
}

async function databaseWith(block: StoredBlock): Promise<Database> {
  const database = createMemoryDatabase();
  const store = new BlockStore(BLOCK_STORE_LIMITS, { database });
  for (const each of [aStoredBlock(), block]) {
    const batch = new Batch();
    store.put(batch, each);
    store.complete(batch, each);
    await database.write(batch);
  }
  return database;
}

/** The block as it is read by a store that has it only on the disk. */
async function onDisk(block: StoredBlock, blockBytes = BLOCK_STORE_LIMITS.blockBytes): Promise<ReadFromDisk> {
  const database = await databaseWith(block);
  const store = new BlockStore({ headers: 10, blockBytes }, { database });
  return { database, store, read: () => expectDefined(store.block(1n), "the block") };
}

interface ReadFromDisk {
  readonly database: Database;
  readonly store: BlockStore;
  read(): StoredBlock;
}

function chainOf(store: BlockStore): Pick<ChainReader, "headerByNumber" | "historyStart"> {
  return { headerByNumber: (number) => store.header(number), historyStart: WHOLE_HISTORY };
}

function textOf(answer: Answer): string {
  if (answer instanceof RawJson) return answer.text;
  if (answer instanceof JsonPieces) return joinPieces(answer.pieces);
  throw new Error("the answer is no text");
}

describe("a block with hashes, read from the disk", () => {
  itIfThorough("has the text that its decoded transactions give, whatever their types", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.nat(300), fc.constantFrom(127, 128, 129, 2_047, 2_048, 2_049, 5_000)),
        fc.nat(59),
        async (count, shift) => {
          const block = aBlockOf(count, shift);
          const { store, read } = await onDisk(block);
          const expected = blockJson({ ...block }, "hashes");
          expect(textOf(await blockAnswer(read(), "hashes", chainOf(store)))).toBe(expected);
          expect(textOf(await blockAnswer(read(), "hashes", chainOf(store)))).toBe(expected);
          const decoded = read();
          expect(decoded.transactions.length).toBe(count);
          expect(joinBytes([...hashesOf(decoded)])).toEqual(
            joinBytes(block.transactions.map(({ hash }) => hash)),
          );
          expect(transactionCountOf(decoded)).toBe(count);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("keeps its text while the text fits the cache of blocks, and not beyond", async () => {
    const count = 5_000;
    const textBytes = 69 * count;
    for (const [limit, isKept] of [
      [2 * textBytes, true],
      [textBytes, false],
    ] as const) {
      const { store, read } = await onDisk(aBlockOf(count), limit);
      const block = read();
      const answer = await blockAnswer(block, "hashes", chainOf(store));
      expect(read() === block).toBe(isKept);
      expect((await blockAnswer(read(), "hashes", chainOf(store))) === answer).toBe(isKept);
    }
  });

  it("is null when the block is removed before its text is made", async () => {
    const { read } = await onDisk(aBlockOf(30_000));
    expect(
      await blockAnswer(read(), "hashes", {
        headerByNumber: () => undefined,
        historyStart: WHOLE_HISTORY,
      }),
    ).toBeNull();
  });

  it("is refused when a part of the body is damaged, cut or missing", async () => {
    for (const spoil of [
      (value: Uint8Array) => value.with(value.length >> 1, (value.at(value.length >> 1) ?? 0) ^ 1),
      (value: Uint8Array) => value.subarray(0, value.length - 5),
      (value: Uint8Array) => value.subarray(0, 3),
      () => undefined,
    ]) {
      const { database, store, read } = await onDisk(aBlockOf(3_000));
      const key = bodyKey(1n, 20);
      const spoilt = spoil(expectDefined(database.get(key), "a chunk of the body"));
      const batch = new Batch();
      if (spoilt === undefined) batch.delete(key);
      else batch.put(key, spoilt);
      await database.write(batch);
      await expect((async () => blockAnswer(read(), "hashes", chainOf(store)))()).rejects.toThrow(
        DamagedData,
      );
    }
  });
});
