import fc from "fast-check";
import { expect, it } from "vitest";
import { compareBytes } from "../../../src/primitives/hex.ts";
import { atOnce } from "../../../src/primitives/steps.ts";
import { sortChanges } from "../../../src/state/trie/sortChanges.ts";
import { casesOf } from "../../thorough.ts";

/** Keys of two scattered bytes and a number, so that many begin alike. */
function changes(count: number, factor: number): { key: Uint8Array }[] {
  return Array.from({ length: count }, (_, at) => {
    const key = new Uint8Array(8);
    new DataView(key.buffer).setUint16(0, Math.imul(at + 1, factor));
    new DataView(key.buffer).setUint32(4, at);
    return { key };
  });
}

it("sorts any number of changes by key, in steps", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 6_000 }), fc.integer({ min: 1, max: 65_535 }), (count, factor) => {
      const sorted = changes(count, factor);
      const expected = [...sorted].sort((a, b) => compareBytes(a.key, b.key));
      let steps = 0;
      for (const _ of sortChanges(sorted)) steps++;
      expect(sorted.every((change, at) => change === expected[at])).toBe(true);
      expect(steps).toBeGreaterThanOrEqual(Math.floor(count / 1_100));
    }),
    { numRuns: casesOf(30) },
  );
});

it.each([10, 5_000])("notices a key that occurs twice among %i", (count) => {
  const all = changes(count, 12_345);
  all.push({ key: (all[count >> 1] as { key: Uint8Array }).key.slice() });
  expect(() => atOnce(sortChanges(all))).toThrow("contain each key once");
});
