import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { Batch } from "../../../src/storage/batch.ts";
import { openLevelDatabase } from "../../../src/storage/leveldb/levelDatabase.ts";
import { ALL_TABLES, findLevelDamage } from "../../../src/storage/leveldb/levelFiles.ts";
import { temporaryFolder } from "../temporaryFolder.ts";

it("bounds what is read of the tables and how many are looked at, the newest first, but misses none that is gone", async () => {
  const { path, tables } = await aFolderOfTables();
  const [oldest, middle, newest] = tables as [string, string, string];
  const found = (bytes: number, sizes: number) => [...findLevelDamage(path, { bytes, sizes })];
  const whole = statSync(newest).size;
  expect([...findLevelDamage(path, ALL_TABLES)]).toEqual([]);

  flipFirstByte(middle);
  expect(found(whole, 3)).toEqual([]);
  expect(found(2 * whole, 3)).toEqual([expect.stringMatching(`^${middle}: .*checksum`)]);
  flipFirstByte(middle);

  truncateSync(oldest, whole - 1);
  expect(found(0, 2)).toEqual([]);
  expect(found(0, 3)).toEqual([`${oldest} has ${whole - 1} bytes instead of ${whole}`]);

  rmSync(oldest);
  expect(found(0, 0)).toEqual([`${oldest} is missing`]);
});

it("counts each table that was read", async () => {
  const { path, tables } = await aFolderOfTables();
  const read: number[] = [];
  expect([...findLevelDamage(path, ALL_TABLES, (bytes) => read.push(bytes))]).toEqual([]);
  expect(read).toEqual(tables.map((table) => statSync(table).size));
});

/** A folder of three tables of one size, the oldest first: LevelDB moves what its log has into one whenever it opens. */
async function aFolderOfTables() {
  const path = join(temporaryFolder(), "chain");
  for (let open = 0; open < 4; open++) {
    const database = await openLevelDatabase({ path });
    const batch = new Batch();
    batch.put(Uint8Array.of(open), new Uint8Array(1_000).fill(open));
    await database.write(batch);
    await database.close();
  }
  const names = readdirSync(path).filter((name) => name.endsWith(".ldb"));
  expect(names).toHaveLength(3);
  return { path, tables: names.sort().map((name) => join(path, name)) };
}

function flipFirstByte(file: string): void {
  const bytes = readFileSync(file);
  bytes[0] = expectDefined(bytes[0], "a byte") ^ 1;
  writeFileSync(file, bytes);
}
