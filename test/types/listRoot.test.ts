import { MerklePatriciaTrie } from "@ethereumjs/mpt";
import { RLP } from "@ethereumjs/rlp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { rootOfList } from "../../src/types/listRoot.ts";

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
      { numRuns: 30 },
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
});
