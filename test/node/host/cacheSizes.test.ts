import { describe, expect, it } from "vitest";
import { INDEX_CACHE_BYTES } from "../../../src/accounts/accountIndex.ts";
import { VIEW_LIMITS } from "../../../src/chain/view/limits.ts";
import { bytesWhenFull, shareMemory } from "../../../src/node/host/cacheSizes.ts";
import { DEFAULT_HISTORY_LIMITS } from "../../../src/state/stateHistory.ts";
import { DEFAULT_WORLD_STATE_LIMITS } from "../../../src/state/worldState.ts";
import { BLOCK_STORE_LIMITS } from "../../../src/storage/blocks/blockStore.ts";
import { DATABASE_CACHE_BYTES, WRITE_BUFFER_BYTES } from "../../../src/storage/leveldb/levelDatabase.ts";

const GIGABYTE = 1024 ** 3;
/** Of a node as `npm start` makes it on two cores: two for callers, the explorer's and the index's. */
const USUAL_THREADS = 4;

const CHAIN_SIZES = {
  database: DATABASE_CACHE_BYTES,
  writeBuffer: WRITE_BUFFER_BYTES,
  accountIndex: INDEX_CACHE_BYTES,
  state: DEFAULT_WORLD_STATE_LIMITS,
  blocks: BLOCK_STORE_LIMITS,
};

describe("the sizes of caches", () => {
  it.each([4, 8, 64, 1024])("are whole with %i GB and four cores", (gigabytes) => {
    for (const threads of [0, USUAL_THREADS, 5])
      expect(shareMemory(gigabytes * GIGABYTE, threads)).toEqual({
        ...CHAIN_SIZES,
        view: VIEW_LIMITS,
        history: DEFAULT_HISTORY_LIMITS,
      });
  });

  it("let a node with full caches take two fifths of 2 GB and more", () => {
    for (let gigabytes = 2; gigabytes <= 16; gigabytes += 0.25)
      for (let threads = 0; threads <= USUAL_THREADS; threads++) {
        const bytes = bytesWhenFull(shareMemory(gigabytes * GIGABYTE, threads), threads);
        expect([gigabytes, threads, bytes <= gigabytes * GIGABYTE * 0.4]).toEqual([gigabytes, threads, true]);
      }
  });

  it("are nearly whole for a validator of 2 GB that nobody calls", () => {
    expect(shareMemory(2.05 * GIGABYTE, 0)).toMatchObject(CHAIN_SIZES);
    const { database, writeBuffer } = shareMemory(2 * GIGABYTE, 0);
    expect(database).toBeGreaterThan(0.98 * DATABASE_CACHE_BYTES);
    expect(writeBuffer).toBeGreaterThan(0.98 * WRITE_BUFFER_BYTES);
  });

  it("leave a machine of 2 GB more than half of it", () => {
    expect(bytesWhenFull(shareMemory(2 * GIGABYTE, USUAL_THREADS), USUAL_THREADS)).toBeLessThan(
      0.82 * GIGABYTE,
    );
  });

  it("are the thread's that makes blocks before those of fifteen threads for callers", () => {
    const { view, history, ...chain } = shareMemory(4 * GIGABYTE, 15);
    expect(chain).toEqual(CHAIN_SIZES);
    expect(view.blocks.blockBytes).toBeLessThan(VIEW_LIMITS.blocks.blockBytes / 2);
    expect(history.pageCacheBytes).toBeLessThan(DEFAULT_HISTORY_LIMITS.pageCacheBytes);
  });

  it("grow with the memory, and are whole numbers", () => {
    let before = shareMemory(GIGABYTE / 4, USUAL_THREADS);
    for (let memory = GIGABYTE / 2; memory <= 5 * GIGABYTE; memory += GIGABYTE / 2) {
      const sizes = shareMemory(memory, USUAL_THREADS);
      for (const [name, size] of numbersIn(sizes)) {
        expect([name, Number.isInteger(size)]).toEqual([name, true]);
        expect(size).toBeGreaterThanOrEqual(new Map(numbersIn(before)).get(name) ?? Number.NaN);
      }
      before = sizes;
    }
  });

  it("are an eighth at least, so that blocks are read once", () => {
    const { state, blocks, view } = shareMemory(1, 100);
    expect(state.nodeCacheBytes).toBe(DEFAULT_WORLD_STATE_LIMITS.nodeCacheBytes / 8);
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
