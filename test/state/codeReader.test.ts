import { describe, expect, it } from "vitest";
import { EMPTY_CODE_HASH, keccak256 } from "../../src/primitives/hash.ts";
import { CodeReader } from "../../src/state/codeReader.ts";
import { Batch } from "../../src/storage/batch.ts";
import { DamagedData, type Database } from "../../src/storage/database.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { codeKey } from "../../src/storage/stateKeys.ts";

describe("the code reader", () => {
  it("reads code once for its size, even when the cache is too small for it", async () => {
    const { database, counts } = counted(createMemoryDatabase());
    const codes = Array.from({ length: 400 }, (_, n) => new Uint8Array(1000 + n).fill(n));
    for (const code of codes) await write(database, keccak256(code), code);
    const reader = new CodeReader(database, 10_000);
    for (let round = 0; round < 3; round++)
      for (const code of codes) expect(reader.codeSize(keccak256(code))).toBe(code.length);
    expect(counts.gets).toBe(400);
    expect(reader.codeSize(EMPTY_CODE_HASH)).toBe(0);
  });

  it("keeps most of the codes that are read in turn, where a few more are read than have room", async () => {
    const { database, counts } = counted(createMemoryDatabase());
    const codes = Array.from({ length: 100 }, (_, n) => new Uint8Array(700).fill(n));
    for (const code of codes) await write(database, keccak256(code), code);
    // Room for 80.
    const reader = new CodeReader(database, 80_000);
    const readAll = (): number => {
      const before = counts.gets;
      // A call asks several times.
      for (const code of codes)
        for (let times = 0; times < 3; times++) expect(reader.code(keccak256(code))[0]).toBe(code[0]);
      return counts.gets - before;
    };
    expect(readAll()).toBe(100);
    for (let round = 0; round < 10; round++) expect(readAll()).toBeLessThan(30);
    // A code that is asked for again and again is in soon.
    const another = new Uint8Array(700).fill(200);
    await write(database, keccak256(another), another);
    const before = counts.gets;
    for (let times = 0; times < 50; times++) {
      reader.code(keccak256(another));
      reader.code(keccak256(codes[0] as Uint8Array));
    }
    expect(counts.gets - before).toBeLessThan(20);
  });

  it("verifies code from the disk, the first time and later", async () => {
    const database = createMemoryDatabase();
    const code = new Uint8Array(100).fill(7);
    const hash = keccak256(code);
    const flipped = code.with(50, 6);
    const withoutCache = new CodeReader(database, 0);
    await write(database, hash, code);
    expect(withoutCache.code(hash)).toEqual(code);
    for (const wrong of [flipped, code.subarray(1), new Uint8Array(101).fill(7)]) {
      await write(database, hash, wrong);
      expect(() => withoutCache.code(hash)).toThrow(DamagedData);
      expect(() => new CodeReader(database, 0).code(hash)).toThrow(DamagedData);
      expect(() => new CodeReader(database, 0).codeSize(hash)).toThrow(DamagedData);
    }
    await write(database, hash, code);
    expect(withoutCache.code(hash)).toEqual(code);
  });
});

function counted(inner: Database): { database: Database; counts: { gets: number } } {
  const counts = { gets: 0 };
  const database: Database = Object.create(inner, {
    get: {
      value: (key: Uint8Array) => {
        counts.gets++;
        return inner.get(key);
      },
    },
  });
  return { database, counts };
}

async function write(database: Database, hash: Uint8Array, code: Uint8Array): Promise<void> {
  const batch = new Batch();
  batch.put(codeKey(hash), code);
  await database.write(batch);
}
