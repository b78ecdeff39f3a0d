import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { Batch } from "../../../src/storage/batch.ts";
import { sealEntry } from "../../../src/storage/checksum.ts";
import { DamagedData, type Database, type DatabaseOnDisk, DiskError } from "../../../src/storage/database.ts";
import { KEY_PREFIXES } from "../../../src/storage/keys.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { migrate } from "../../../src/storage/migration/migrate.ts";
import { planMigration } from "../../../src/storage/migration/planMigration.ts";
import { checkSchema, putPrunedSchema, putSchema, readSchema } from "../../../src/storage/schema.ts";
import { preimageKey } from "../../../src/storage/stateKeys.ts";
import { createForgetfulDatabase } from "../../builders/forgetfulDisk.ts";
import { itIfThorough, someOf } from "../../thorough.ts";
import { generator } from "../random.ts";
import { FIRST_SCHEMA_VERSION, MIGRATION_STEPS } from "./nextSteps.ts";

const AMPLE = async () => 2 ** 40;
const STEPS = { steps: MIGRATION_STEPS, freeBytes: AMPLE };
const VALUE_BYTES = 8_000;
const ENTRIES = 400;

describe("a migration", () => {
  it("brings each entry through all steps once, and the version with the last", async () => {
    const database = await aDatabase(createMemoryDatabase());
    const before = await entriesOf(database);
    expect(await migrate(database, { ...STEPS, steps: MIGRATION_STEPS.slice(0, 1) })).toBe("done");
    expect(await readSchema(database)).toEqual({ version: 2 });
    expect(await entriesOf(database)).not.toEqual(before);
    expect(await migrate(database, STEPS)).toBe("done");
    expect(await readSchema(database)).toEqual({ version: 3 });
    expect(await entriesOf(database)).toEqual(before);
  });

  it("leaves the mark of removed blocks, so that earlier programs refuse the folder as before", async () => {
    const database = await aDatabase(createMemoryDatabase());
    const batch = new Batch();
    putPrunedSchema(batch);
    await database.write(batch);
    expect(await migrate(database, STEPS)).toBe("done");
    expect(await readSchema(database)).toEqual({ version: 3, isPruned: true });
  });

  it.each(someOf([1, 2, 3, 4, 5]))(
    "goes on after the last durable batch, wherever the power is cut (seed %i)",
    async (seed) => {
      const before = await entriesOf(await aDatabase(createMemoryDatabase()));
      const random = generator(seed);
      let disk = createForgetfulDatabase({ seed });
      await aDatabase(disk);
      let cuts = 0;
      const halfWay = new Set<number>();
      for (;;) {
        let batchesLeft = random.below(3);
        const cut = new Promise<"cut">((resolve) => {
          const counted = measurable({
            ...disk,
            write(batch) {
              const writing = disk.write(batch);
              if (batchesLeft-- === 0) {
                disk = disk.powerCut();
                resolve("cut");
              }
              return writing;
            },
          });
          void migrate(counted, STEPS).then(
            () => resolve("cut"),
            () => undefined,
          );
        });
        await cut;
        const stored = await readSchema(disk);
        if (stored?.migration !== undefined) halfWay.add(stored.version);
        if (stored?.version === 3 && stored.migration === undefined) break;
        cuts++;
      }
      expect(cuts).toBeGreaterThan(4);
      expect([...halfWay].sort()).toEqual([2, 3]);
      expect(await entriesOf(disk)).toEqual(before);
    },
  );

  it("is refused by the version before from its first batch on, and by this one until it is whole", async () => {
    const database = await aDatabase(createMemoryDatabase());
    let batches = 0;
    const end = await migrate(database, {
      ...STEPS,
      isStopped: () => batches > 0,
      onProgress: () => batches++,
    });
    expect(end).toBe("stopped");
    const stored = await readSchema(database);
    expect(stored?.version).toBe(2);
    expect(stored?.migration?.from).toBe(1);
    // This program is of version 1.
    await expect(checkSchema(database)).rejects.toThrow(
      /schema version 2; this version of Ibex reads version 1/,
    );
    const later = await planMigration(database, MIGRATION_STEPS);
    expect(later).toMatchObject({ from: 1, to: 3, isResumed: true });
    const step = later?.steps[0];
    expect(step?.leftBytes).toBeLessThan(step?.totalBytes ?? 0);
  });

  it("begins no step without the room for it", async () => {
    const database = await aDatabase(createMemoryDatabase());
    const before = await entriesOf(database);
    const plan = await planMigration(database, MIGRATION_STEPS);
    expect(plan?.roomBytes).toBeGreaterThan(ENTRIES * VALUE_BYTES * 2);
    const run = migrate(database, { ...STEPS, freeBytes: async () => 60 * 1024 ** 2 });
    await expect(run).rejects.toThrow(/needs \d+ MB of free disk space, and there are 60 MB: make room/);
    await expect(run).rejects.toBeInstanceOf(DiskError);
    expect(await readSchema(database)).toEqual({ version: 1 });
    expect(await entriesOf(database)).toEqual(before);
  });

  it("stops at a damaged entry, and keeps what it has done", async () => {
    const database = await aDatabase(createMemoryDatabase());
    const batch = new Batch();
    batch.put(keyOf(300), Uint8Array.of(1, 2, 3, 4, 5));
    await database.write(batch);
    await expect(migrate(database, STEPS)).rejects.toBeInstanceOf(DamagedData);
    expect((await readSchema(database))?.migration?.from).toBe(1);
  });

  it("may not write what its pass has still to read", async () => {
    const database = await aDatabase(createMemoryDatabase());
    const ahead = {
      what: "Copy ahead",
      growth: 2,
      passes: [
        {
          range: {
            from: Uint8Array.of(KEY_PREFIXES.preimage),
            until: Uint8Array.of(KEY_PREFIXES.preimage + 1),
          },
          convert: ({ value }: { value: Uint8Array }, batch: Batch) =>
            batch.put(Uint8Array.of(KEY_PREFIXES.preimage, 0xff), value),
        },
      ],
    };
    await expect(migrate(database, { ...STEPS, steps: [ahead] })).rejects.toThrow(
      /writes no key that its pass has still to read/,
    );
  });

  itIfThorough("holds no more than a batch in memory", async () => {
    const database = await aDatabase(createMemoryDatabase());
    let largest = 0;
    const watched = measurable({
      ...database,
      write(batch) {
        largest = Math.max(largest, batch.byteLength);
        return database.write(batch);
      },
    });
    await migrate(watched, STEPS);
    expect(largest).toBeGreaterThan(0);
    expect(largest).toBeLessThan(512 * 1024 + 3 * VALUE_BYTES);
  });
});

async function aDatabase<D extends Database>(database: D): Promise<DatabaseOnDisk> {
  const batch = new Batch();
  putSchema(batch, { version: FIRST_SCHEMA_VERSION });
  for (let number = 0; number < ENTRIES; number++) {
    // Half of them change their keys, the others stay in their places.
    const key = keyOf(number);
    if (number % 2 === 1) key[0] = KEY_PREFIXES.transaction;
    batch.put(key, sealEntry(key, new Uint8Array(VALUE_BYTES).fill(number)));
  }
  await database.write(batch);
  return measurable(database);
}

function keyOf(number: number): Uint8Array {
  const hash = new Uint8Array(32);
  new DataView(hash.buffer).setUint32(0, number);
  return Uint8Array.from(preimageKey(hash));
}

function measurable(database: Database): DatabaseOnDisk {
  return {
    ...database,
    snapshot: () => ({ ...database, close: () => undefined }),
    async approximateBytes(range) {
      let bytes = 0;
      for await (const [key, value] of database.range(range)) bytes += key.length + value.length;
      return bytes;
    },
    compact: async () => undefined,
  };
}

/** All entries but the schema version. */
async function entriesOf(database: Database): Promise<readonly string[]> {
  const entries: string[] = [];
  const all = { from: Uint8Array.of(KEY_PREFIXES.meta + 1), until: Uint8Array.of(0xff) };
  for await (const [key, value] of database.range(all))
    entries.push(`${toHex(key)} ${toHex(value.slice(0, 40))} ${value.length}`);
  return entries;
}
