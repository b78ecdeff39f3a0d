import { type ChildProcess, spawn } from "node:child_process";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { compareBytes, toHex } from "../../src/primitives/hex.ts";
import { Batch } from "../../src/storage/batch.ts";
import { DamagedData, type Database, DiskError, type KeyRange } from "../../src/storage/database.ts";
import { openLevelDatabase, WRITE_BUFFER_BYTES } from "../../src/storage/leveldb/levelDatabase.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { casesOf } from "../thorough.ts";
import { temporaryFolder } from "./temporaryFolder.ts";

const kinds: readonly (readonly [string, () => Promise<Database>])[] = [
  ["in memory", async () => createMemoryDatabase()],
  ["on disk", () => opened(temporaryFolder())],
];

it("yields to the event loop while it writes a large batch, and shows it whole or not at all", async () => {
  const folder = temporaryFolder();
  const database = await opened(folder);
  const batch = new Batch();
  const keyOf = (index: number): Uint8Array => bytes([index >> 8, index & 255]);
  for (let index = 0; index < 20_000; index++) batch.put(keyOf(index), bytes([1]));
  let taken = 0;
  const { operations } = batch;
  const watched = {
    byteLength: batch.byteLength,
    operations: Object.assign([...operations], {
      *[Symbol.iterator]() {
        for (const operation of operations) {
          taken++;
          yield operation;
        }
      },
    }),
  } as unknown as typeof batch;
  const takenAt: number[] = [];
  const seenAt: string[] = [];
  let isDone = false;
  const observe = (): void => {
    takenAt.push(taken);
    const keys = [0, 10_000, 19_999, 0].map(keyOf);
    seenAt.push(keys.map((key) => (database.get(key) === undefined ? "-" : "+")).join(""));
    if (!isDone) setImmediate(observe);
  };
  setImmediate(observe);
  await database.write(watched);
  isDone = true;
  expect(new Set(takenAt.filter((count) => count > 0 && count < 20_000)).size).toBeGreaterThanOrEqual(4);
  expect(seenAt.filter((_, at) => (takenAt[at] ?? 0) < 20_000).every((shown) => shown === "----")).toBe(true);
  // It may appear between two reads; every later read sees it.
  expect(seenAt.filter((shown) => !/^-*\+*$/.test(shown))).toEqual([]);
  expect(database.get(keyOf(19_999))).toEqual(bytes([1]));

  // A write that began before the close is not lost.
  const last = new Batch();
  for (let index = 0; index < 20_000; index++) last.put(keyOf(index), bytes([2]));
  const writing = database.write(last);
  await database.close();
  await writing;
  const again = await opened(folder);
  expect(again.get(keyOf(19_999))).toEqual(bytes([2]));
});

describe.each(kinds)("a database %s", (_, open) => {
  it("returns written values, and undefined for other keys", async () => {
    const database = await open();
    await database.write(batchOf([[1], [10]], [[2], []]));
    expect(database.get(bytes([1]))).toEqual(bytes([10]));
    expect(database.get(bytes([2]))).toHaveLength(0);
    expect(database.get(bytes([3]))).toBeUndefined();
    expect(await database.getMany([bytes([3]), bytes([1])])).toEqual([undefined, bytes([10])]);
  });

  it("lets the later operation on a key win, within a batch and across batches", async () => {
    const database = await open();
    const batch = batchOf([[1], [10]], [[2], [20]]);
    batch.delete(bytes([1]));
    batch.put(bytes([2]), bytes([21]));
    await database.write(batch);
    expect(database.get(bytes([1]))).toBeUndefined();
    expect(database.get(bytes([2]))).toEqual(bytes([21]));
    await database.write(batchOf([[2], [22]]));
    expect(database.get(bytes([2]))).toEqual(bytes([22]));
  });

  it("reads the state of the freeze until the release", async () => {
    const database = await open();
    await database.write(batchOf([[1], [10]], [[2], [20]]));
    const all = { from: bytes([0]), until: bytes([9]) };
    const frozen = database.freeze();
    const batch = batchOf([[1], [11]], [[3], [30]]);
    batch.delete(bytes([2]));
    await database.write(batch);
    expect(database.get(bytes([1]))).toEqual(bytes([10]));
    expect(database.get(bytes([3]))).toBeUndefined();
    expect(await database.getMany([bytes([2])])).toEqual([bytes([20])]);
    expect(await keysIn(database, all)).toEqual(["0x01", "0x02"]);
    frozen.release();
    expect(database.get(bytes([1]))).toEqual(bytes([11]));
    expect(await keysIn(database, all)).toEqual(["0x01", "0x03"]);
    const again = database.freeze();
    await database.write(batchOf([[4], [40]]));
    expect(await keysIn(database, all)).toEqual(["0x01", "0x03"]);
    again.release();
  });

  it("lists ranges in key order, ascending and descending", async () => {
    const database = await open();
    const model = new Map<string, Uint8Array>();
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 40 }), range, async (operations, asked) => {
        const batch = new Batch();
        for (const { key, value } of operations) {
          if (value === undefined) batch.delete(key);
          else batch.put(key, value);
          if (value === undefined) model.delete(toHex(key));
          else model.set(toHex(key), key);
        }
        await database.write(batch);
        const keys = [...model.values()]
          .filter((key) => compareBytes(key, asked.from) >= 0 && compareBytes(key, asked.until) < 0)
          .sort(compareBytes);
        if (asked.reverse === true) keys.reverse();
        expect(await keysIn(database, asked)).toEqual(keys.slice(0, asked.limit).map(toHex));
      }),
      { numRuns: casesOf(60) },
    );
  });

  it("lists a range longer than one fetch", async () => {
    const database = await open();
    const batch = new Batch();
    for (let at = 0; at < 2500; at++) batch.put(Uint8Array.of(at >> 8, at & 255), new Uint8Array(300));
    await database.write(batch);
    const keys = await keysIn(database, { from: bytes([0]), until: bytes([255]) });
    expect(keys).toHaveLength(2500);
    expect(new Set(keys).size).toBe(2500);
  });
});

describe("the database on disk", () => {
  it("keeps what was written when it is opened again", async () => {
    const path = temporaryFolder();
    const first = await openLevelDatabase({ path });
    await first.write(batchOf([[1], [10]]));
    await first.close();
    expect((await opened(path)).get(bytes([1]))).toEqual(bytes([10]));
  });

  it("shares the database with a read-only thread that sees each committed write at once and cannot write", async () => {
    const path = temporaryFolder();
    const writer = await opened(path);
    const reader = await openLevelDatabase({
      path: `${path}/../${path.split("/").at(-1)}`,
      readOnlyThread: true,
    });
    await writer.write(batchOf([[1], [10]]));
    expect(reader.get(bytes([1]))).toEqual(bytes([10]));
    await expect(reader.write(batchOf([[1], [11]]))).rejects.toThrow("a read-only thread does not write");
    await reader.close();
    expect(writer.get(bytes([1]))).toEqual(bytes([10]));
  });

  it("says that another node uses the folder when another process has it open", async () => {
    const path = temporaryFolder();
    await processHolding(path);
    await expect(openLevelDatabase({ path })).rejects.toThrow(/Another node is using this data folder/);
    await expect(openLevelDatabase({ path })).rejects.toBeInstanceOf(DiskError);
  });

  it("writes nothing after a write that failed, although the disk would take it again", async () => {
    const path = join(temporaryFolder(), "chain");
    const database = await openLevelDatabase({ path });
    // The write buffer is full now, so the next write needs a new file in the folder.
    const large = new Batch();
    large.put(bytes([1]), new Uint8Array(WRITE_BUFFER_BYTES + 1024));
    await database.write(large);
    renameSync(path, `${path}-away`);
    const refused = /cannot be written.*No such file/;
    await expect(database.write(batchOf([[2], [2]]))).rejects.toThrow(refused);
    renameSync(`${path}-away`, path);
    await expect(database.write(batchOf([[3], [3]]))).rejects.toThrow(refused);
    expect(database.get(bytes([3]))).toBeUndefined();
    await database.close();
  });

  it("can be opened for writing only once in a process", async () => {
    const path = temporaryFolder();
    await opened(path);
    await expect(openLevelDatabase({ path })).rejects.toThrow(/Another node is using this data folder/);
  });

  it("says what is wrong with an impossible folder", async () => {
    const path = temporaryFolder();
    writeFileSync(join(path, "file"), "");
    const failure = openLevelDatabase({ path: join(path, "file", "chain") });
    await expect(failure).rejects.toBeInstanceOf(DiskError);
    await expect(failure).rejects.toThrow(/A file stands where the folder should be/);
  });

  it("does not create a new database over one that has lost its CURRENT file", async () => {
    const path = temporaryFolder();
    const first = await openLevelDatabase({ path });
    await first.write(batchOf([[1], [10]]));
    await first.close();
    rmSync(join(path, "CURRENT"));
    await expect(openLevelDatabase({ path })).rejects.toBeInstanceOf(DamagedData);
    await expect(openLevelDatabase({ path })).rejects.toThrow(/CURRENT does not name a manifest/);
  });
});

async function opened(path: string): Promise<Database> {
  const database = await openLevelDatabase({ path });
  onTestFinished(() => database.close());
  return database;
}

function bytes(values: readonly number[]): Uint8Array {
  return Uint8Array.from(values);
}

function batchOf(...puts: readonly (readonly [key: readonly number[], value: readonly number[]])[]) {
  const batch = new Batch();
  for (const [key, value] of puts) batch.put(bytes(key), bytes(value));
  return batch;
}

async function keysIn(database: Database, asked: KeyRange): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const [key] of database.range(asked)) keys.push(toHex(key));
  return keys;
}

const key = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 3 }).map(bytes);
const operation = fc.record({ key, value: fc.option(key, { nil: undefined }) });
const range: fc.Arbitrary<KeyRange> = fc.record(
  { from: key, until: key, reverse: fc.boolean(), limit: fc.integer({ min: 1, max: 10 }) },
  { requiredKeys: ["from", "until"] },
);

/** Starts another process that has the database open until the test ends. */
async function processHolding(path: string): Promise<ChildProcess> {
  const script = `
    const { ClassicLevel } = require("classic-level");
    const level = new ClassicLevel(${JSON.stringify(path)});
    level.open().then(() => process.stdout.write("open"));
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ["-e", script], {
    cwd: resolve(import.meta.dirname, "..", ".."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise<void>((ready, failed) => {
    child.stdout.once("data", () => ready());
    child.once("exit", () => failed(new Error("the other process ended early")));
  });
  return child;
}
