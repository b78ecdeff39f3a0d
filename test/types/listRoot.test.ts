import { MerklePatriciaTrie } from "@ethereumjs/mpt";
import { RLP } from "@ethereumjs/rlp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { rootOfList, rootOfListInSteps } from "../../src/types/listRoot.ts";
import { countSteps } from "../primitives/countSteps.ts";
import { casesOf } from "../thorough.ts";

async function rootByInsertion(values: readonly Uint8Array[]): Promise<Uint8Array> {
  const trie = new MerklePatriciaTrie();
  for (const [index, value] of values.entries()) await trie.put(RLP.encode(index), value);
  return trie.root();
}

describe("rootOfList", () => {
  it("agrees with a trie filled entry by entry, for any list", async () => {
    const value = fc.uint8Array({ minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 300 }), async (values) => {
        expect(toHex(rootOfList(values))).toBe(toHex(await rootByInsertion(values)));
      }),
      { numRuns: casesOf(30) },
    );
  });

  it.each([1, 2, 127, 128, 129, 256, 257, 1000])(
    "agrees at the edges of key lengths: %i entries",
    async (count) => {
      const values = Array.from({ length: count }, (_, index) =>
        new Uint8Array(index % 40 === 0 ? 200 : 5).fill(index + 1),
      );
      expect(toHex(rootOfList(values))).toBe(toHex(await rootByInsertion(values)));
    },
  );

  it.each<[what: string, lengths: readonly number[], pauses: number]>([
    ["many entries", new Array(1500).fill(110), 75],
    ["few entries of many bytes", new Array(17).fill(128_000), 17],
    ["one entry of very many bytes", [1_000_000], 7],
    ["a long entry among short ones", [...new Array(300).fill(40), 500_000], 20],
  ])("pauses, and agrees: %s", async (_, lengths, pauses) => {
    const values = lengths.map((length, index) => new Uint8Array(length).fill(index + 1));
    const found = countSteps(rootOfListInSteps(values));
    expect(found.pauses).toBeGreaterThanOrEqual(pauses);
    expect(toHex(found.result)).toBe(toHex(await rootByInsertion(values)));
  });
});
