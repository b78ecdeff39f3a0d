import { describe, expect, it } from "vitest";
import { assert, expectDefined } from "../../../src/primitives/assert.ts";
import { asHash, ZERO_HASH } from "../../../src/primitives/hash.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { atOnce } from "../../../src/primitives/steps.ts";
import { Batch } from "../../../src/storage/batch.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../../src/storage/blocks/blockStore.ts";
import { DamagedData, type Database } from "../../../src/storage/database.ts";
import { bodyKey, headerKey, metaKey, receiptsKey, transactionKey } from "../../../src/storage/keys.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { encodeBody, type StoredBlock } from "../../../src/types/block.ts";
import { bloomOfLogs } from "../../../src/types/bloom.ts";
import { encodeHeader } from "../../../src/types/header.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { digestOf } from "../../builders/batchDigest.ts";
import { accountFromSeed } from "../../builders/testAccounts.ts";
import { countSteps } from "../../primitives/countSteps.ts";
import { mostCopied } from "../../primitives/mostCopied.ts";
import { aStoredChain } from "../storedBlocks.ts";

const chain = aStoredChain({ seed: 1, blocks: 3, transactions: 150 });
/** Short enough to be compared field by field. */
const shortChain = aStoredChain({ seed: 2, blocks: 3, transactions: 30 });
const [genesis, first, second, third] = chain as [StoredBlock, StoredBlock, StoredBlock, StoredBlock];

/** All fields of a block, also those that it reads or derives on first access. */
function fieldsOf(block: StoredBlock | undefined): StoredBlock | undefined {
  if (block === undefined) return undefined;
  const { transactions } = block;
  const receipts = block.receipts.map((receipt) => ({ ...receipt, logsBloom: receipt.logsBloom }));
  return { ...block, transactions, receipts };
}

describe("the block store", () => {
  it("reads each block as it was committed, by number and by hash, from the disk alone", async () => {
    const store = storeOver(await databaseWith(shortChain));
    for (const block of shortChain) {
      expect(fieldsOf(store.block(block.header.number))).toEqual(block);
      expect(fieldsOf(store.blockByHash(block.hash))).toEqual(block);
      expect(store.header(block.header.number)).toMatchObject({ header: block.header, hash: block.hash });
      expect(store.headerByHash(block.hash)?.totalDifficulty).toBe(block.totalDifficulty);
    }
    expect(store.head()?.hash).toEqual(shortChain.at(-1)?.hash);
  });

  it("takes a head pointer that is not found any more for damage, and says so of blocks that are not found either", async () => {
    const database = await databaseWith(shortChain);
    const store = storeOver(database);
    expect(store.head()?.hash).toEqual(shortChain.at(-1)?.hash);
    const gone = new Batch();
    gone.delete(metaKey("head"));
    gone.delete(headerKey(1n));
    await database.write(gone);
    expect(() => store.block(1n)).toThrow(DamagedData);
    expect(() => store.head()).toThrow(/head pointer is missing/);
    expect(storeOver(createMemoryDatabase()).head()).toBeUndefined();
  });

  it("puts the same entries in steps as at once", () => {
    const store = new BlockStore(BLOCK_STORE_LIMITS, { database: createMemoryDatabase() });
    const long = aStoredChain({ seed: 3, blocks: 1, transactions: 300 }).at(-1) as StoredBlock;
    const [log] = long.receipts.flatMap(({ logs }) => logs);
    if (log === undefined) throw new Error("some transaction logs");
    const receipts = long.receipts.map((receipt, index) =>
      index === 7 ? { ...receipt, logs: new Array<typeof log>(10_000).fill(log) } : receipt,
    );
    const block = { ...long, receipts };
    const [whole, sliced] = [new Batch(), new Batch()];
    store.put(whole, block);
    const { pauses } = countSteps(store.putInSteps(sliced, block));
    // Three chunks of transactions and of receipts, 10,000 logs, 300 entries of the index; and what measures and seals.
    expect(pauses).toBeGreaterThanOrEqual(3 + 3 + 39 + 1);
    expect(digestOf(sliced)).toBe(digestOf(whole));
  });

  it("puts and reads receipts of megabytes with pauses by bytes, whether one log has them or many", async () => {
    const long = aStoredChain({ seed: 5, blocks: 1, transactions: 100 }).at(-1) as StoredBlock;
    const [log] = long.receipts.flatMap(({ logs }) => logs);
    if (log === undefined) throw new Error("some transaction logs");
    const large = { ...log, data: new Uint8Array(40_000).fill(2) };
    const receipts = long.receipts.map((receipt, index) => {
      const logs = index === 7 ? [{ ...log, data: new Uint8Array(4 * MIB).fill(1) }] : [large];
      return { ...receipt, logs, logsBloom: bloomOfLogs(logs) };
    });
    const block = { ...long, receipts };
    const store = new BlockStore(BLOCK_STORE_LIMITS, { database: createMemoryDatabase() });
    const batch = new Batch();
    expect(mostCopied(store.putInSteps(batch, block)).bytes).toBeLessThan(MIB);
    expect(batch.byteLength).toBeGreaterThan(8_000_000);

    const read = storeOver(await databaseWith([block])).blockByHash(long.hash);
    const fromSteps = countSteps(expectDefined(read?.receiptsInSteps?.(), "a block on disk"));
    expect(fromSteps.result.map(({ logs }) => logs)).toEqual(receipts.map(({ logs }) => logs));
    // The checksum of 8 MB is computed in steps.
    expect(fromSteps.pauses).toBeGreaterThan(8_000_000 / MIB);
  });

  it("reads bodies and receipts in steps as at once", async () => {
    const long = aStoredChain({ seed: 4, blocks: 1, transactions: 300 }).at(-1) as StoredBlock;
    const [log] = long.receipts.flatMap(({ logs }) => logs);
    if (log === undefined) throw new Error("some transaction logs");
    const logs = new Array<typeof log>(1_000).fill(log);
    const receipts = long.receipts.map((receipt, index) =>
      index === 200 ? { ...receipt, logs, logsBloom: bloomOfLogs(logs) } : receipt,
    );
    const database = await databaseWith([{ ...long, receipts }]);
    const read = (): StoredBlock => expectDefined(storeOver(database).blockByHash(long.hash), "the block");
    const bodyOf = (block: StoredBlock) => expectDefined(block.bodyInSteps?.(), "a block on disk");
    const receiptsOf = (block: StoredBlock) => expectDefined(block.receiptsInSteps?.(), "a block on disk");
    const withBlooms = (list: StoredBlock["receipts"]) =>
      list.map((receipt) => ({ ...receipt, logsBloom: receipt.logsBloom }));

    const body = countSteps(bodyOf(read()));
    expect(toHex(body.result)).toBe(toHex(encodeBody(long)));
    const fromSteps = countSteps(receiptsOf(read()));
    expect(withBlooms(fromSteps.result)).toEqual(withBlooms(read().receipts));
    // Three chunks; and for the receipts 1,000 logs, which are read, and put into a bloom.
    expect([body.pauses, fromSteps.pauses]).toEqual([2, 2 + 3 + 3]);

    const block = read();
    expect(atOnce(receiptsOf(block))).toBe(block.receipts);
    expect(block.transactions).toHaveLength(300);
    expect(countSteps(bodyOf(block))).toMatchObject({ pauses: 0 });
    const store = storeOver(database);
    store.remember(long);
    expect(store.blockByHash(long.hash)?.bodyInSteps).toBeUndefined();
  });

  it("finds each transaction by hash, with its receipt and the index of its first log", async () => {
    const store = storeOver(await databaseWith(shortChain));
    for (const block of shortChain) {
      let firstLogIndex = 0;
      for (const [index, transaction] of block.transactions.entries()) {
        const receipt = block.receipts[index];
        expect(store.transactionByHash(transaction.hash)).toMatchObject({
          transaction,
          receipt,
          index,
          firstLogIndex,
        });
        firstLogIndex += receipt?.logs.length ?? 0;
      }
    }
  });

  it("returns the same from memory and from the disk", async () => {
    const database = await databaseWith(chain);
    const cached = storeOver(database);
    for (const block of chain) cached.remember(block);
    const uncached = storeOver(database);
    uncached.block(2n)?.receipts.at(0);
    for (const { hash } of second.transactions) {
      const fromMemory = expectDefined(cached.transactionByHash(hash), "a cached transaction");
      const { block, transaction, index, receipt, firstLogIndex } = fromMemory;
      expect(block).toBe(second);
      const fromDisk = expectDefined(uncached.transactionByHash(hash), "a transaction on the disk");
      expect(fromDisk).toMatchObject({ transaction, index });
      expect(fromDisk.receipt).toMatchObject(receipt);
      expect(fromDisk.firstLogIndex).toBe(firstLogIndex);
    }
  });

  it("decodes a block only once", async () => {
    const store = storeOver(await databaseWith(chain));
    expect(store.block(2n)?.transactions).toBe(store.block(2n)?.transactions);
    expect(store.block(2n)?.receipts).toBe(store.block(2n)?.receipts);
    expect(store.block(2n)).toBe(store.blockByHash(second.hash));
    store.remember(third);
    expect(store.block(3n)).toBe(third);
  });

  it("keeps no room for blocks of which nothing is read but their headers", async () => {
    const many = aStoredChain({ seed: 6, blocks: 40, transactions: 1 });
    const store = new BlockStore({ headers: 64, blockBytes: 16_384 }, { database: await databaseWith(many) });
    const transactions = store.block(1n)?.transactions;
    for (const { header } of many) expect(store.block(header.number)?.header).toEqual(header);
    expect(store.block(1n)?.transactions).toBe(transactions);
  });

  it("does not keep what was read of a block after it was removed", async () => {
    const store = storeOver(await databaseWith(chain));
    const removed = expectDefined(store.block(3n), "the head");
    store.forgetAbove(2n);
    expect(removed.transactions.length).toBe(150);
    expect(store.block(3n)).not.toBe(removed);
    const kept = expectDefined(store.block(2n), "a block");
    expect(kept.transactions.length).toBe(150);
    expect(store.block(2n)).toBe(kept);
  });

  it("caches blocks of no more memory than its limit", async () => {
    const database = await databaseWith(chain);
    const store = new BlockStore({ headers: 2, blockBytes: 1_550_000 }, { database });
    for (const block of chain) store.remember(block);
    expect(store.block(3n)).toBe(third);
    expect(store.block(2n)).toBe(second);
    expect(store.block(1n)).not.toBe(first);
    expect(fieldsOf(store.block(1n))).toEqual(first);
  });

  it("counts what one transaction carries, and what one transaction logs", async () => {
    const [, , before, head] = aStoredChain({ seed: 3, blocks: 3, transactions: 1 }) as StoredBlock[];
    assert(before !== undefined && head !== undefined, "a chain of three blocks");
    const log = { address: accountFromSeed(1).address, topics: [ZERO_HASH], data: new Uint8Array(32) };
    const receipt = expectDefined(head.receipts[0], "a receipt");
    const heavy: Record<string, StoredBlock> = {
      data: { ...head, transactions: [aTransaction({ data: new Uint8Array(60_000) })] },
      logs: { ...head, receipts: [{ ...receipt, logs: Array(200).fill(log) }] },
    };
    for (const block of [head, ...Object.values(heavy)]) {
      const store = new BlockStore({ headers: 3, blockBytes: 50_000 }, { database: createMemoryDatabase() });
      store.remember(before);
      store.remember(block);
      expect(store.hasReceiptsInMemory(block.header.number)).toBe(block === head);
    }
  });

  it("drops blocks from the disk when what was read of them takes more than its limit", async () => {
    const database = await databaseWith(chain);
    const store = new BlockStore({ headers: 4, blockBytes: 1_550_000 }, { database });
    const read = [1n, 2n, 3n].map((number) => expectDefined(store.block(number), `block ${number}`));
    for (const block of read) expect(block.receipts.length).toBe(150);
    for (const block of read) expect(block.transactions.length).toBe(150);
    expect([1n, 2n, 3n].map((number) => store.block(number) === read[Number(number) - 1])).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("counts what is read of a kept block after its header was dropped from the cache", async () => {
    const database = await databaseWith(chain);
    const store = new BlockStore({ headers: 1, blockBytes: 1_550_000 }, { database });
    const numbers = [1n, 2n, 3n];
    const read = numbers.map((number) => {
      const block = expectDefined(store.block(number), `block ${number}`);
      expect(block.transactions.length).toBe(150);
      return block;
    });
    for (const number of numbers) expect(store.block(number)?.receipts.length).toBe(150);
    expect(numbers.map((number) => store.block(number) === read[Number(number) - 1])).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("looks up single transactions and receipts without the rest of their block", async () => {
    const many = aStoredChain({ seed: 4, blocks: 1, transactions: 300 });
    const head = expectDefined(many[1], "the head");
    const gets: string[] = [];
    const database = await databaseWith(many);
    const store = new BlockStore(BLOCK_STORE_LIMITS, {
      database: {
        ...database,
        get(key) {
          gets.push(toHex(key));
          return database.get(key);
        },
      },
    });
    let logsBefore = 0;
    for (const [index, { hash }] of head.transactions.entries()) {
      const found = expectDefined(store.transactionByHash(hash), "a stored transaction");
      const { transaction, receipt, firstLogIndex } = found;
      expect(transaction).toEqual(head.transactions[index]);
      expect({ ...receipt, logsBloom: receipt.logsBloom }).toEqual(head.receipts[index]);
      expect(firstLogIndex).toBe(logsBefore);
      logsBefore += receipt.logs.length;
    }
    const timesRead = (keyOf: (number: bigint, chunk: number) => Uint8Array) =>
      [0, 1, 2].map((chunk) => gets.filter((key) => key === toHex(keyOf(1n, chunk))).length);
    expect(timesRead(bodyKey)).toEqual([1, 1, 1]);
    expect(timesRead(receiptsKey)).toEqual([1, 1, 1]);
    expect(store.hasReceiptsInMemory(1n)).toBe(false);
  });

  it("reads one of many large neighbours alone", async () => {
    const [genesisOf, plain] = aStoredChain({ seed: 5, blocks: 1, transactions: 100 });
    assert(genesisOf !== undefined && plain !== undefined, "a chain of one block");
    const log = { address: accountFromSeed(1).address, topics: [ZERO_HASH], data: new Uint8Array(1000) };
    const logs = [log, { ...log, topics: [] }];
    const receipts = plain.receipts.map((receipt, index) => ({
      ...receipt,
      logs,
      logsBloom: bloomOfLogs(logs),
      ...(index % 3 === 0 && { revertReason: new Uint8Array(7) }),
    }));
    const store = storeOver(await databaseWith([genesisOf, { ...plain, receipts }]));
    for (const index of [99, 0, 50]) {
      const found = expectDefined(
        store.transactionByHash(expectDefined(plain.transactions[index], "it").hash),
        "a stored transaction",
      );
      expect({ ...found.receipt, logsBloom: found.receipt.logsBloom }).toEqual(receipts[index]);
      expect(found.firstLogIndex).toBe(2 * index);
      expect(store.transactionByHash(found.transaction.hash)?.receipt).toBe(found.receipt);
    }
  });

  it("does not cache a block again that is read after a rewind removed it", async () => {
    const store = storeOver(await databaseWith(chain));
    const held = expectDefined(store.block(3n), "block 3");
    store.forgetAbove(2n);
    expect(held.receipts.length).toBe(150);
    expect(store.hasReceiptsInMemory(3n)).toBe(false);
  });

  it("derives a receipt's bloom from its logs", async () => {
    const store = storeOver(await databaseWith(chain));
    const receipts = store.block(1n)?.receipts ?? [];
    expect(receipts.some(({ logs }) => logs.length > 0)).toBe(true);
    for (const { logs, logsBloom } of receipts) expect(logsBloom).toEqual(bloomOfLogs(logs));
  });

  it("has no block above the head, below genesis or of an unknown hash", async () => {
    const store = storeOver(await databaseWith(chain));
    for (const number of [4n, -1n, 2n ** 64n]) {
      expect(store.header(number)).toBeUndefined();
      expect(store.block(number)).toBeUndefined();
    }
    const unknown = asHash(new Uint8Array(32).fill(7));
    expect(store.headerByHash(unknown)).toBeUndefined();
    expect(store.blockByHash(unknown)).toBeUndefined();
    expect(store.transactionByHash(unknown)).toBeUndefined();
  });

  it("gives the encoding of each header as it is stored, without keeping it", async () => {
    const database = await databaseWith(chain);
    let reads = 0;
    const counted: Database = {
      ...database,
      get(key) {
        reads++;
        return database.get(key);
      },
    };
    const store = storeOver(counted);
    for (const { header } of [...chain, ...chain])
      expect(store.encodedHeader(header.number)).toEqual(encodeHeader(header));
    expect(reads).toBe(2 * chain.length);
    for (const number of [4n, -1n, 2n ** 64n]) expect(store.encodedHeader(number)).toBeUndefined();
    const gone = new Batch();
    gone.delete(headerKey(1n));
    await database.write(gone);
    expect(() => store.encodedHeader(1n)).toThrow(DamagedData);
  });

  it("stores the ommers and withdrawals of blocks of other chains", async () => {
    const odd: StoredBlock = {
      ...genesis,
      ommers: [first.header, second.header],
      withdrawals: [[Uint8Array.of(1)]],
    };
    expect(fieldsOf(storeOver(await databaseWith([odd])).block(0n))).toEqual(odd);
  });

  it("deletes and forgets all data of the blocks above a rewind", async () => {
    const database = await databaseWith(chain);
    const before = new Map(await contents(await databaseWith([genesis, first])));
    const store = storeOver(database);
    for (const block of chain) store.remember(block);
    const hashOf = ({ transactions }: StoredBlock) => expectDefined(transactions[0], "a transaction").hash;
    for (const block of [first, third]) expect(store.transactionByHash(hashOf(block))?.block).toBe(block);
    const batch = new Batch();
    store.delete(batch, 3n);
    store.delete(batch, 2n);
    store.moveHead(batch, first);
    await database.write(batch);
    store.forgetAbove(1n);
    expect(new Map(await contents(database))).toEqual(before);
    expect(store.head()?.hash).toEqual(first.hash);
    expect(store.block(2n)).toBeUndefined();
    expect(store.headerByHash(third.hash)).toBeUndefined();
    expect(store.transactionByHash(hashOf(third))).toBeUndefined();
    expect(store.transactionByHash(hashOf(first))?.block).toBe(first);
  });

  it("looks up the place of a transaction once, whatever buffer its hash is in", async () => {
    const database = await databaseWith(chain);
    let lookups = 0;
    const counting: Database = {
      ...database,
      get: (key) => {
        lookups++;
        return database.get(key);
      },
    };
    const store = storeOver(counting);
    for (const block of chain) store.remember(block);
    const [{ hash }, other] = second.transactions as [SentTransaction, SentTransaction];
    // It reads once where the history begins.
    expect(store.historyStart.blocks).toBe(0n);
    lookups = 0;
    const asked = asHash(hash.slice());
    expect(store.transactionByHash(asked)?.transaction).toBe(second.transactions[0]);
    expect(lookups).toBe(1);
    asked.set(other.hash);
    expect(store.transactionByHash(asked)?.transaction).toBe(other);
    expect(lookups).toBe(2);
    expect(store.transactionByHash(hash)?.transaction).toBe(second.transactions[0]);
    expect(lookups).toBe(2);
    const alike = asHash(hash.slice());
    alike[31] = (alike[31] ?? 0) ^ 1;
    expect(store.transactionByHash(alike)).toBeUndefined();
    expect(lookups).toBe(3);
  });
});

describe("the block store on a damaged database", () => {
  const places: readonly (readonly [string, Uint8Array])[] = [
    ["header", headerKey(2n)],
    ["body", bodyKey(2n, 1)],
    ["receipts", receiptsKey(2n, 1)],
  ];

  it.each(places)("throws DamagedData when the %s of a block below the head is missing", async (_, key) => {
    const database = await databaseWith(chain);
    const batch = new Batch();
    batch.delete(key);
    await database.write(batch);
    expect(() => readAll(storeOver(database))).toThrow(DamagedData);
    expect(() => readAll(storeOver(database))).toThrow(/block 2.*missing/i);
  });

  it.each(places)("throws DamagedData when a bit of the %s has flipped", async (_, key) => {
    const database = await databaseWith(chain);
    await overwrite(database, key, (value) => {
      value[20] = (value[20] ?? 0) ^ 4;
    });
    expect(() => readAll(storeOver(database))).toThrow(DamagedData);
    expect(() => readAll(storeOver(database))).toThrow(/block 2 is damaged.*ibex database check/);
  });

  it("throws DamagedData when a valid entry is under another key", async () => {
    const database = await databaseWith(chain);
    const batch = new Batch();
    batch.put(headerKey(2n), database.get(headerKey(1n)) ?? new Uint8Array());
    batch.put(
      transactionKey(second.transactions[0]?.hash ?? second.hash),
      database.get(transactionKey(second.transactions[1]?.hash ?? second.hash)) ?? new Uint8Array(),
    );
    await database.write(batch);
    const store = storeOver(database);
    expect(() => store.header(2n)).toThrow(DamagedData);
    expect(() => store.transactionByHash(second.transactions[0]?.hash ?? second.hash)).toThrow(DamagedData);
  });
});

function storeOver(database: Database): BlockStore {
  return new BlockStore(BLOCK_STORE_LIMITS, { database });
}

async function databaseWith(blocks: readonly StoredBlock[]): Promise<Database> {
  const database = createMemoryDatabase();
  const store = storeOver(database);
  for (const block of blocks) {
    const batch = new Batch();
    store.put(batch, block);
    store.complete(batch, block);
    await database.write(batch);
  }
  return database;
}

async function contents(database: Database): Promise<[string, Uint8Array][]> {
  const entries: [string, Uint8Array][] = [];
  for await (const [key, value] of database.range({ from: Uint8Array.of(), until: Uint8Array.of(255) }))
    entries.push([key.join(), value]);
  return entries;
}

async function overwrite(
  database: Database,
  key: Uint8Array,
  change: (value: Uint8Array) => void,
): Promise<void> {
  const value = Uint8Array.from(database.get(key) ?? []);
  change(value);
  const batch = new Batch();
  batch.put(key, value);
  await database.write(batch);
}

function readAll(store: BlockStore): void {
  for (let number = 0n; number <= 3n; number++) {
    const block = store.block(number);
    expect(block?.transactions).toHaveLength(number === 0n ? 0 : 150);
    expect(block?.receipts).toHaveLength(number === 0n ? 0 : 150);
  }
}

const MIB = 1024 * 1024;
