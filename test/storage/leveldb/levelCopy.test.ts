import { mkdirSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Batch } from "../../../src/storage/batch.ts";
import { DamagedData } from "../../../src/storage/database.ts";
import { copyLevelFolder } from "../../../src/storage/leveldb/levelCopy.ts";
import { openLevelDatabase } from "../../../src/storage/leveldb/levelDatabase.ts";
import { ALL_TABLES, findLevelDamage } from "../../../src/storage/leveldb/levelFiles.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { generator } from "../random.ts";
import { temporaryFolder } from "../temporaryFolder.ts";

const KEYS = 64;
const COPIES = IS_THOROUGH ? 30 : 5;
const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);

/** The number of the batch that each key was last written by: equal for all, if no batch is there in part. */
async function batchesIn(path: string): Promise<readonly number[]> {
  const database = await openLevelDatabase({ path });
  try {
    return keys().map((key) =>
      new DataView(database.get(key)?.slice().buffer ?? new ArrayBuffer(4)).getUint32(0),
    );
  } finally {
    await database.close();
  }
}

const keys = (): Uint8Array[] => Array.from({ length: KEYS }, (_, index) => Uint8Array.of(1, index));

it(`copies of a database that is written to hold whole batches, and all that were durable before (IBEX_SEED=${SEED})`, async () => {
  const random = generator(SEED);
  const folder = temporaryFolder();
  const path = join(folder, "chain");
  const database = await openLevelDatabase({ path });
  let durable = 0;
  let isDone = false;
  const writing = (async () => {
    while (!isDone) {
      const batch = new Batch();
      const number = durable + 1;
      const value = new Uint8Array(2_000 + random.below(20_000)).fill(number % 256);
      new DataView(value.buffer).setUint32(0, number);
      for (const key of keys()) batch.put(key, value);
      await database.write(batch);
      durable = number;
    }
  })();
  const manifests = new Set<number>();
  // Goes on until compactions have happened meanwhile.
  for (let copy = 0; copy < COPIES || manifests.size === 1; copy++) {
    await new Promise((resolve) => setTimeout(resolve, random.below(60)));
    const before = durable;
    const to = join(folder, `copy${copy}`);
    mkdirSync(to);
    copyLevelFolder(path, to);
    manifests.add(readdirSync(to).filter((name) => name.endsWith(".ldb")).length);
    const [first = 0, ...others] = await batchesIn(to);
    expect(others).toEqual(others.map(() => first));
    expect(first).toBeGreaterThanOrEqual(before);
    // Opening the copy, which deletes and writes tables there, leaves the files of the other one alone.
    rmSync(to, { recursive: true });
  }
  isDone = true;
  await writing;
  await database.close();
  expect([...findLevelDamage(path, ALL_TABLES)]).toEqual([]);
});

it("a damaged manifest, and a folder without one, are not copied", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "chain");
  const database = await openLevelDatabase({ path });
  await database.close();
  const to = join(folder, "copy");
  mkdirSync(to);
  const manifest = readdirSync(path).find((name) => name.startsWith("MANIFEST")) ?? "";
  truncateSync(join(path, manifest), statSync(join(path, manifest)).size - 1);
  expect(() => copyLevelFolder(path, to)).toThrow(/changed too quickly/);
  rmSync(join(path, manifest));
  expect(() => copyLevelFolder(path, to)).toThrow(DamagedData);
});
