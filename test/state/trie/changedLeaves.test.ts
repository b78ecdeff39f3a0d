import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toDigits } from "../../../src/primitives/hex.ts";
import { changedLeaves } from "../../../src/state/trie/changedLeaves.ts";
import type { NodeReader } from "../../../src/state/trie/pageReader.ts";
import { casesOf } from "../../thorough.ts";
import { someValue, TrieHarness } from "./trieHarness.ts";

type Version = ReadonlyMap<string, Uint8Array | undefined>;

describe("the leaves that differ between two versions of a trie", () => {
  // Short keys produce what is rare with 32-byte keys: extensions, embedded nodes, full branches.
  it.each([
    { bytes: 1, digits: "0123456789abcdef" },
    { bytes: 2, digits: "01f" },
    { bytes: 3, digits: "01" },
    { bytes: 6, digits: "0a" },
  ])("are those whose values differ, in order, keys of $bytes bytes from digits $digits", async (shape) => {
    await fc.assert(
      fc.asyncProperty(versions(shape), async (steps) => {
        const trie = new TrieHarness();
        const contents: ReadonlyMap<string, Uint8Array>[] = [new Map()];
        for (const step of steps) {
          await trie.apply(step);
          contents.push(new Map(trie.contents));
        }
        for (const [before, old] of contents.entries())
          for (const [after, young] of contents.entries())
            expect(changed(trie, before, after, shape.bytes)).toEqual(differingKeys(old, young));
      }),
      { numRuns: casesOf(100) },
    );
  });

  it("are found without reading what both versions share", async () => {
    const trie = new TrieHarness();
    const keys = Array.from({ length: 2000 }, (_, i) => toDigits(someValue(i, 32)));
    await trie.apply(new Map(keys.map((key, i) => [key, someValue(i, 40)])));
    const [one = ""] = keys;
    await trie.apply(new Map([[one, someValue(1, 41)]]));
    let reads = 0;
    const counting = (version: number) => {
      const source = trie.source(trie.roots[version]);
      const reader: NodeReader = {
        read(...place) {
          reads++;
          return source.reader.read(...place);
        },
      };
      return { ...source, reader };
    };
    expect([...changedLeaves({ before: counting(1), after: counting(2) }, 32)].map(toDigits)).toEqual([one]);
    // A path of four or five nodes in each version; the trie has some 2,700 nodes.
    expect(reads).toBeLessThan(20);
  });
});

function changed(trie: TrieHarness, before: number, after: number, keyLength: number): string[] {
  const source = (version: number) => trie.source(trie.roots[version]);
  return [...changedLeaves({ before: source(before), after: source(after) }, keyLength)].map(toDigits);
}

function differingKeys(old: ReadonlyMap<string, Uint8Array>, young: ReadonlyMap<string, Uint8Array>) {
  const keys = new Set([...old.keys(), ...young.keys()]);
  const text = (bytes: Uint8Array | undefined) => bytes && toDigits(bytes);
  return [...keys].filter((key) => text(old.get(key)) !== text(young.get(key))).sort();
}

function versions({ bytes, digits }: { readonly bytes: number; readonly digits: string }) {
  const key = fc
    .array(fc.constantFrom(...digits), { minLength: 2 * bytes, maxLength: 2 * bytes })
    .map((nibbles) => nibbles.join(""));
  // Short values are embedded in their parents.
  const value = fc.option(
    fc.tuple(fc.nat(3), fc.constantFrom(1, 2, 40)).map(([seed, length]) => someValue(seed, length)),
    { nil: undefined },
  );
  const version = fc
    .array(fc.tuple(key, value), { maxLength: 12 })
    .map((changes): Version => new Map(changes.map(([text, bytesOfValue]) => [text, bytesOfValue])));
  return fc.array(version, { minLength: 1, maxLength: 4 });
}
