import { describe, expect, it } from "vitest";
import { WHOLE_CACHES } from "../../../src/node/caches.ts";
import { bytesWhenFull, type CacheSizes, shareMemory } from "../../../src/node/host/cacheSizes.ts";
import { MAPPED_TABLES } from "../../../src/storage/leveldb/levelDatabase.ts";

const GIGABYTE = 1024 ** 3;
/** Of a node as `npm start` makes it on two cores: two for callers, the explorer's and the index's. */
const USUAL_THREADS = 4;

const { openTables: ALL_TABLES, ...ALL_CACHES } = WHOLE_CACHES;
const { view: WHOLE_VIEW, history: WHOLE_HISTORY, ...CHAIN_SIZES } = ALL_CACHES;

const shareOut = (memoryBytes: number, threads: number): CacheSizes =>
  shareMemory(WHOLE_CACHES, memoryBytes, threads);

describe("the sizes of caches", () => {
  it.each([4, 8, 64, 1024])("are whole with %i GB and four cores", (gigabytes) => {
    for (const threads of [0, USUAL_THREADS, 5])
      expect(shareOut(gigabytes * GIGABYTE, threads)).toMatchObject(ALL_CACHES);
  });

  it("let a node with full caches take two fifths of 2 GB and more", () => {
    for (let gigabytes = 2; gigabytes <= 16; gigabytes += 0.25)
      for (let threads = 0; threads <= USUAL_THREADS; threads++) {
        const bytes = bytesWhenFull(shareOut(gigabytes * GIGABYTE, threads), threads);
        expect([gigabytes, threads, bytes <= gigabytes * GIGABYTE * 0.4]).toEqual([gigabytes, threads, true]);
      }
  });

  it("are nearly whole for a validator of 2 GB that nobody calls", () => {
    expect(shareOut(2.05 * GIGABYTE, 0)).toMatchObject(CHAIN_SIZES);
    const { database, writeBuffer } = shareOut(2 * GIGABYTE, 0);
    expect(database).toBeGreaterThan(0.98 * WHOLE_CACHES.database);
    expect(writeBuffer).toBeGreaterThan(0.98 * WHOLE_CACHES.writeBuffer);
  });

  it("leave a machine of 2 GB more than half of it", () => {
    expect(bytesWhenFull(shareOut(2 * GIGABYTE, USUAL_THREADS), USUAL_THREADS)).toBeLessThan(0.82 * GIGABYTE);
  });

  it("are the thread's that makes blocks before those of fifteen threads for callers", () => {
    const { view, history, ...chain } = shareOut(4 * GIGABYTE, 15);
    expect(chain).toMatchObject(CHAIN_SIZES);
    expect(view.blocks.blockBytes).toBeLessThan(WHOLE_VIEW.blocks.blockBytes / 2);
    expect(history.pageCacheBytes).toBeLessThan(WHOLE_HISTORY.pageCacheBytes);
  });

  it("leave open tables, which only a large database has, what nothing else has use for", () => {
    expect(shareOut(2 * GIGABYTE, USUAL_THREADS).openTables).toBe(MAPPED_TABLES);
    const some = shareOut(4.5 * GIGABYTE, USUAL_THREADS).openTables;
    expect([MAPPED_TABLES < some, some < ALL_TABLES]).toEqual([true, true]);
    expect(shareOut(5 * GIGABYTE, USUAL_THREADS).openTables).toBe(ALL_TABLES);
  });

  it("grow with the memory, and are whole numbers", () => {
    let before = shareOut(GIGABYTE / 4, USUAL_THREADS);
    for (let memory = GIGABYTE / 2; memory <= 5 * GIGABYTE; memory += GIGABYTE / 2) {
      const sizes = shareOut(memory, USUAL_THREADS);
      for (const [name, size] of numbersIn(sizes)) {
        expect([name, Number.isInteger(size)]).toEqual([name, true]);
        expect(size).toBeGreaterThanOrEqual(new Map(numbersIn(before)).get(name) ?? Number.NaN);
      }
      before = sizes;
    }
  });

  it("are an eighth at least, so that blocks are read once", () => {
    const { state, blocks, view } = shareOut(1, 100);
    expect(state.nodeCacheBytes).toBe(WHOLE_CACHES.state.nodeCacheBytes / 8);
    expect(blocks).toEqual({ headers: 512, blockBytes: 8 * 1024 ** 2 });
    expect(view.blocks.headers).toBe(128);
  });
});

function numbersIn(sizes: object, prefix = ""): [name: string, size: number][] {
  return Object.entries(sizes).flatMap(([name, size]: [string, unknown]) =>
    typeof size === "number"
      ? [[`${prefix}${name}`, size] as [string, number]]
      : numbersIn(size as object, `${prefix}${name}.`),
  );
}
