import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { ByteArena } from "../../../src/state/byteArena.ts";
import type { NodeReader } from "../../../src/state/trie/pageReader.ts";
import { TrieGrower } from "../../../src/state/trie/trieGrower.ts";
import { EMPTY_TRIE } from "../../../src/state/trie/trieRoot.ts";
import { updateTrie } from "../../../src/state/trie/updateTrie.ts";
import { casesOf } from "../../thorough.ts";
import { bytesOf, someValue } from "./trieHarness.ts";

/** Pages by key, as text. */
type Pages = Map<string, string>;

const NO_READER: NodeReader = {
  read: () => {
    throw new Error("there is no node to read");
  },
};

function collector(pages: Pages) {
  return {
    trieId: 3,
    version: 9,
    reader: NO_READER,
    arena: new ByteArena(),
    sink: (key: Uint8Array, page: Uint8Array) => void pages.set(toHex(key), toHex(page)),
  };
}

describe("a trie that grows leaf by leaf", () => {
  // As in updateTrie.test.ts: short keys produce extensions, embedded nodes and full branches.
  it.each([
    { bytes: 1, digits: "0123456789abcdef", most: 256 },
    { bytes: 2, digits: "01f", most: 80 },
    { bytes: 6, digits: "0a", most: 200 },
    { bytes: 32, digits: "0123456789abcdef", most: 400 },
  ])("has the pages of an update with all leaves, keys of $bytes bytes from digits $digits", (shape) => {
    const length = shape.bytes * 2;
    const key = fc
      .array(fc.constantFrom(...shape.digits), { minLength: length, maxLength: length })
      .map((digits) => digits.join(""));
    const value = fc
      .tuple(fc.nat(255), fc.constantFrom(1, 1, 5, 33, 300))
      .map(([seed, size]) => someValue(seed, size));
    const entries = fc.uniqueArray(fc.tuple(key, value), {
      selector: ([each]) => each,
      maxLength: shape.most,
    });
    fc.assert(
      fc.property(entries, (leaves) => {
        const sorted = [...leaves].sort(([a], [b]) => (a < b ? -1 : 1));
        const [grown, updated]: [Pages, Pages] = [new Map(), new Map()];
        const trie = new TrieGrower(collector(grown));
        for (const [text, bytes] of sorted) trie.add({ key: bytesOf(text), value: bytes });
        const root = trie.finish();
        const changes = sorted.map(([text, bytes]) => ({ key: bytesOf(text), value: bytes, existed: false }));
        expect(root).toEqual(updateTrie(collector(updated), EMPTY_TRIE, changes));
        expect(grown).toEqual(updated);
      }),
      { numRuns: casesOf(150) },
    );
  });
});
