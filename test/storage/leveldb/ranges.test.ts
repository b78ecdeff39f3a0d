import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { Batch } from "../../../src/storage/batch.ts";
import type { DatabaseOnDisk } from "../../../src/storage/database.ts";
import { openLevelDatabase } from "../../../src/storage/leveldb/levelDatabase.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { temporaryFolder } from "../temporaryFolder.ts";

const ENTRIES = 900;
/** As those of a header. */
const VALUE_BYTES = 690;
/** So many that what the process takes besides, up to ten megabytes, is little. */
const RANGES = 400;
const ROUNDS = 5;
/** Of each, for what a closed iterator has besides; what it fetched last would be twice as much and more. */
const REMAINING_BYTES = 60_000;

const WHOLE = { from: keyOf(0), until: keyOf(ENTRIES) };

describe("a range of the database on disk", () => {
  it.each([undefined, 1, 127, 128, 129, ENTRIES, 2 * ENTRIES])("ends at a limit of %s", async (limit) => {
    const database = await openFilled();
    const expected = Array.from({ length: Math.min(limit ?? ENTRIES, ENTRIES) }, (_, index) => index);
    const bounds = limit === undefined ? WHOLE : { ...WHOLE, limit };
    expect(await numbersIn(database, bounds)).toEqual(expected);
    const backwards = expected.map((index) => ENTRIES - 1 - index);
    expect(await numbersIn(database, { ...bounds, reverse: true })).toEqual(backwards);
  });

  // LevelDB ends the process where an iterator of an empty database is moved.
  it.each([{}, { limit: 1 }, { reverse: true }])(
    "finds nothing in an empty database with %o",
    async (more) => {
      const database = await openLevelDatabase({ path: temporaryFolder() });
      onTestFinished(() => database.close());
      expect(await numbersIn(database, { ...WHOLE, ...more })).toEqual([]);
    },
  );

  it.runIf(IS_THOROUGH && existsSync("/proc/self/status")).each([
    ["read to its end", ENTRIES, undefined],
    ["left in the middle", 100, undefined],
    ["ended by a limit", 120, 120],
  ])("leaves nothing outside of the heap when it is %s", async (_, wanted, limit) => {
    const database = await openFilled();
    const readSome = async (): Promise<void> => {
      let read = 0;
      for await (const _entry of database.range(limit === undefined ? WHOLE : { ...WHOLE, limit }))
        if (++read === wanted) break;
    };
    for (let count = 0; count < 20; count++) await readSome();
    const growths: number[] = [];
    // What ranges leave grows in each round; what else this process does, in some.
    while (growths.length < ROUNDS && !growths.some((growth) => growth < RANGES * REMAINING_BYTES)) {
      const before = nativeBytes();
      for (let count = 0; count < RANGES; count++) await readSome();
      growths.push(nativeBytes() - before);
    }
    expect(Math.min(...growths)).toBeLessThan(RANGES * REMAINING_BYTES);
  });
});

async function openFilled(): Promise<DatabaseOnDisk> {
  const database = await openLevelDatabase({ path: temporaryFolder() });
  onTestFinished(() => database.close());
  const batch = new Batch();
  for (let number = 0; number < ENTRIES; number++) batch.put(keyOf(number), new Uint8Array(VALUE_BYTES));
  await database.write(batch);
  return database;
}

async function numbersIn(
  database: DatabaseOnDisk,
  range: Parameters<DatabaseOnDisk["range"]>[0],
): Promise<readonly number[]> {
  const numbers: number[] = [];
  for await (const [key] of database.range(range)) numbers.push(Buffer.from(key).readUInt32BE());
  return numbers;
}

function keyOf(number: number): Uint8Array {
  const key = Buffer.alloc(4);
  key.writeUInt32BE(number);
  return new Uint8Array(key);
}

/** Memory of this process that is neither V8's nor known to it. */
function nativeBytes(): number {
  const own = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  const { heapTotal, external } = process.memoryUsage();
  return Number(own) * 1024 - heapTotal - external;
}
