import { MerklePatriciaTrie, verifyMerkleProof } from "@ethereumjs/mpt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { toDigits, toHex } from "../../../src/primitives/hex.ts";
import { Batch } from "../../../src/storage/batch.ts";
import { DamagedData, type Database } from "../../../src/storage/database.ts";
import { KEY_PREFIXES, prefixRange } from "../../../src/storage/keys.ts";
import { casesOf } from "../../thorough.ts";
import { bytesOf, someValue, TrieHarness } from "./trieHarness.ts";

type Version = ReadonlyMap<string, Uint8Array | undefined>;

describe("trie of one key length", () => {
  // Short keys produce what is rare with 32-byte keys: extensions, embedded nodes, full branches.
  it.each([
    { bytes: 1, digits: "0123456789abcdef" },
    { bytes: 2, digits: "01f" },
    { bytes: 3, digits: "01" },
    { bytes: 6, digits: "0a" },
  ])("has the library's root after each version, keys of $bytes bytes from digits $digits", async (shape) => {
    await fc.assert(
      fc.asyncProperty(versions(shape), async (steps) => {
        const oracle = new MerklePatriciaTrie();
        const trie = new TrieHarness();
        const snapshots: Map<string, Uint8Array>[] = [new Map()];
        for (const step of steps) {
          for (const [text, value] of step) {
            if (value === undefined) await oracle.del(bytesOf(text));
            else await oracle.put(bytesOf(text), value);
          }
          expect(toHex((await trie.apply(step)).hash)).toBe(toHex(oracle.root()));
          snapshots.push(new Map(trie.contents));
        }
        expectEveryVersionReads(trie, snapshots, steps);
      }),
      { numRuns: casesOf(150) },
    );
  });

  it("proves presence and absence, verified by the library", async () => {
    await fc.assert(
      fc.asyncProperty(versions({ bytes: 2, digits: "012345" }), async (steps) => {
        const trie = new TrieHarness();
        for (const step of steps) await trie.apply(step);
        if (trie.contents.size === 0) return;
        for (const text of new Set(steps.flatMap((step) => [...step.keys()]))) {
          const proof: Uint8Array[] = [];
          trie.find(text, trie.root, (rlp) => proof.push(rlp));
          const proven = await verifyMerkleProof(bytesOf(text), proof);
          expect(proven ?? undefined).toEqual(trie.contents.get(text));
        }
      }),
      { numRuns: casesOf(60) },
    );
  });

  it("refuses a page with any changed byte, including bytes that no hash covers", async () => {
    const trie = new TrieHarness();
    const keys = Array.from({ length: 20 }, (_, i) => toDigits(Uint8Array.of(i * 13, i)));
    await trie.apply(new Map(keys.map((key, i) => [key, someValue(i, 40)])));
    const { database } = trie;
    for await (const [key, sealed] of database.range(prefixRange(KEY_PREFIXES.trie))) {
      for (let at = 0; at < sealed.length; at++) {
        await write(database, key, Uint8Array.from(sealed).fill((sealed[at] ?? 0) ^ 1, at, at + 1));
        expect(() => keys.map((text) => trie.find(text)), `byte ${at}`).toThrow(DamagedData);
      }
      await write(database, key, sealed);
    }
    expect(keys.map((text) => trie.find(text)?.value)).toEqual(keys.map((_, i) => someValue(i, 40)));
  });

  it("has the same root however changes are split into versions", async () => {
    const keys = Array.from({ length: 3000 }, (_, i) => toDigits(keccak256(Uint8Array.of(i & 255, i >> 8))));
    const whole = new TrieHarness();
    await whole.apply(new Map(keys.map((key, i) => [key, someValue(i, 1 + (i % 40))])));
    const split = new TrieHarness();
    for (let from = 0; from < keys.length; from += 500) {
      const part = keys
        .slice(from, from + 500)
        .map((key, i) => [key, someValue(from + i, 1 + ((from + i) % 40))]);
      await split.apply(new Map(part as [string, Uint8Array][]));
    }
    expect(toHex(split.root.hash)).toBe(toHex(whole.root.hash));
    await split.apply(new Map(keys.slice(1).map((key) => [key, undefined])));
    const one = new TrieHarness();
    await one.apply(new Map([[keys[0] ?? "", someValue(0, 1)]]));
    expect(toHex(split.root.hash)).toBe(toHex(one.root.hash));
  });
});

async function write(database: Database, key: Uint8Array, value: Uint8Array): Promise<void> {
  const batch = new Batch();
  batch.put(key, value);
  await database.write(batch);
}

function versions(shape: { readonly bytes: number; readonly digits: string }): fc.Arbitrary<Version[]> {
  const key = fc
    .array(fc.constantFrom(...shape.digits), { minLength: shape.bytes * 2, maxLength: shape.bytes * 2 })
    .map((digits) => digits.join(""));
  const value = fc.option(
    fc
      .tuple(fc.nat(255), fc.constantFrom(1, 2, 5, 31, 32, 33, 70))
      .map(([seed, length]) => someValue(seed, length)),
    { nil: undefined, freq: 2 },
  );
  const version = fc.array(fc.tuple(key, value), { maxLength: 40 }).map((entries) => new Map(entries));
  return fc.array(version, { minLength: 1, maxLength: 6 });
}

function expectEveryVersionReads(
  trie: TrieHarness,
  snapshots: readonly ReadonlyMap<string, Uint8Array>[],
  steps: readonly Version[],
): void {
  const keys = new Set(steps.flatMap((step) => [...step.keys()]));
  for (const [version, contents] of snapshots.entries())
    for (const text of keys) {
      const found = trie.find(text, trie.roots[version]);
      expect(found === undefined ? undefined : toDigits(found.value)).toBe(digitsOf(contents.get(text)));
    }
}

function digitsOf(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : toDigits(value);
}
