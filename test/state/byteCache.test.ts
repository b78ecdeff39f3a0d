import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { toDigits } from "../../src/primitives/hex.ts";
import { ByteCache } from "../../src/state/byteCache.ts";
import { casesOf } from "../thorough.ts";

const MEGABYTE = 1024 * 1024;

describe("byte cache", () => {
  it("returns the last value or nothing, and stays within the limit", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(40), fc.nat(60_000), fc.boolean()), { maxLength: 200 }),
        (steps) => {
          const cache = new ByteCache(2 * MEGABYTE);
          const model = new Map<string, Uint8Array>();
          for (const [name, length, isRead] of steps) {
            const key = keyOf(name);
            if (!isRead) {
              const value = new Uint8Array(length).fill(name + length);
              cache.put(key, { bytes: value, start: 0, length });
              model.set(toDigits(key), value);
            }
            const found = read(cache, key);
            if (!isRead) expect(found).toBeDefined();
            if (found !== undefined)
              expect(Buffer.compare(found, model.get(toDigits(key)) ?? new Uint8Array(1))).toBe(0);
          }
          expect(cachedBytes(cache, model)).toBeLessThanOrEqual(2 * MEGABYTE);
        },
      ),
      { numRuns: casesOf(200) },
    );
  });

  it("drops unused entries, and keeps used ones", () => {
    const cache = new ByteCache(4 * MEGABYTE);
    let lost = 0;
    for (let i = 0; i < 60_000; i++) {
      put(cache, i);
      for (let hot = 0; hot < 10; hot++) if (hot <= i && read(cache, keyOf(hot)) === undefined) lost++;
    }
    expect(lost).toBe(0);
    expect(read(cache, keyOf(100))).toBeUndefined();
    expect(read(cache, keyOf(59_999))).toBeDefined();
  });

  it("keeps nearly all entries that fit its limit", () => {
    const cache = new ByteCache(4 * MEGABYTE);
    const count = 30_000;
    for (let round = 0; round < 5; round++) for (let i = 0; i < count; i++) put(cache, i);
    let kept = 0;
    for (let i = 0; i < count; i++) if (read(cache, keyOf(i)) !== undefined) kept++;
    expect(kept).toBeGreaterThan(count * 0.999);
  });

  it("finds every entry while its table is replaced, and never hashes many keys for one entry", () => {
    const cache = new ByteCache(16 * MEGABYTE);
    const hashed = vi.spyOn(Math, "imul");
    let most = 0;
    for (let name = 0; name < 40_000; name++) {
      const before = hashed.mock.calls.length;
      put(cache, name);
      most = Math.max(most, hashed.mock.calls.length - before);
      if (name % 1_000 === 0) hashed.mockClear();
      for (const earlier of [0, name >> 1, name])
        if (read(cache, keyOf(earlier)) === undefined) throw new Error(`${earlier} is lost`);
    }
    // The cache's hash multiplies once for each byte of a key, and once more.
    expect(most).toBeGreaterThan(4);
    expect(most).toBeLessThan(4 * 20);
    hashed.mockRestore();
  });

  it("is empty after clear", () => {
    const cache = new ByteCache(MEGABYTE);
    put(cache, 1);
    cache.clear();
    expect(read(cache, keyOf(1))).toBeUndefined();
    put(cache, 1);
    expect(read(cache, keyOf(1))).toBeDefined();
  });

  it("has the memory of a chunk for what comes after clear", () => {
    const cache = new ByteCache(4 * MEGABYTE);
    put(cache, 1);
    const chunk = cache.find(keyOf(1))?.bytes;
    for (let name = 2; name < 20_000; name++) put(cache, name);
    cache.clear();
    expect(read(cache, keyOf(1))).toBeUndefined();
    put(cache, 2);
    expect(cache.find(keyOf(2))?.bytes).toBe(chunk);
    for (let name = 3; name < 20_000; name++) put(cache, name);
    expect(read(cache, keyOf(3))).toEqual(new Uint8Array(100).fill(3));
    expect(read(cache, keyOf(19_999))).toBeDefined();
  });
});

function put(cache: ByteCache, name: number): void {
  cache.put(keyOf(name), { bytes: new Uint8Array(100).fill(name), start: 0, length: 100 });
}

function read(cache: ByteCache, key: Uint8Array): Uint8Array | undefined {
  const found = cache.find(key);
  return found === undefined ? undefined : found.bytes.slice(found.start, found.start + found.length);
}

function cachedBytes(cache: ByteCache, model: ReadonlyMap<string, Uint8Array>): number {
  let sum = 0;
  for (const text of model.keys()) sum += read(cache, Buffer.from(text, "hex"))?.length ?? 0;
  return sum;
}

function keyOf(name: number): Uint8Array {
  return Uint8Array.of(name & 255, (name >> 8) & 255, name >> 16);
}
