import { describe, expect, it } from "vitest";
import { BoundedCache, dropOldest } from "../../src/primitives/boundedCache.ts";

describe("the bounded cache", () => {
  it("stays below its limit by dropping the oldest entries that were not read since", () => {
    const cache = new BoundedCache<number, number>(100);
    for (let key = 0; key < 20; key++) cache.set(key, key, 10);
    const kept = Array.from({ length: 20 }, (_, key) => cache.get(key)).filter(
      (value) => value !== undefined,
    );
    expect(kept).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    cache.set(99, 99, 101);
    expect(cache.get(99)).toBeUndefined();
  });

  it("keeps an entry that is read at least once in half of its limit", () => {
    const cache = new BoundedCache<number, string>(100);
    cache.set(-1, "often read", 10);
    for (let key = 0; key < 1_000; key++) {
      if (key % 5 === 0) expect(cache.get(-1)).toBe("often read");
      cache.set(key, "once", 10);
    }
  });

  it("does not move an entry that is read while little was inserted after it", () => {
    const cache = new BoundedCache<string, number>(40);
    cache.set("first", 1, 10);
    cache.set("second", 2, 10);
    expect(cache.get("first")).toBe(1);
    for (const key of ["third", "fourth", "fifth"]) cache.set(key, 0, 10);
    expect([cache.get("first"), cache.get("second")]).toEqual([undefined, 2]);
  });

  it("counts a replaced entry once, and drops stale entries", () => {
    const cache = new BoundedCache<string, number>(30);
    for (let time = 0; time < 10; time++) cache.set("again", time, 10);
    cache.set("other", 1, 10);
    cache.set("third", 1, 10);
    expect(cache.get("again")).toBe(9);
    cache.forget((key) => key === "other");
    expect([cache.get("again"), cache.get("other"), cache.get("third")]).toEqual([9, undefined, 1]);
  });
});

describe("dropping the oldest", () => {
  it("leaves the newest entries of a map or a set", () => {
    const set = new Set([1, 2, 3]);
    const map = new Map([1, 2, 3].map((key) => [key, "value"]));
    dropOldest(set, 3);
    expect([...set]).toEqual([1, 2, 3]);
    dropOldest(set, 1);
    dropOldest(map, 2);
    expect([[...set], [...map.keys()]]).toEqual([[3], [2, 3]]);
    dropOldest(map, 0);
    expect(map.size).toBe(0);
  });
});
