import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longWord, pairWord } from "../../../src/execution/interpreter/pushedWords.ts";
import { bytesOfWord, trimmedBytesOfWord } from "../../../src/execution/interpreter/words.ts";
import { toHex } from "../../../src/primitives/hex.ts";

describe("pushed words", () => {
  it("are the bytes after the instruction, padded with zeros, whatever the slot cached before", () => {
    const code = fc.uint8Array({ minLength: 1, maxLength: 200 });
    const pushes = fc.array(fc.tuple(fc.nat(40), fc.nat(199), fc.integer({ min: 3, max: 32 })));
    fc.assert(
      fc.property(code, pushes, (bytes, all) => {
        for (const [n, at, size] of all) {
          const own = bytes.map((byte) => byte ^ n);
          const start = Math.min(at, own.length);
          const digits = Buffer.from(own.slice(start, start + size)).toString("hex");
          const expected = BigInt(`0x${digits.padEnd(2 * size, "0")}`);
          expect(longWord(idWithSlotsOf(n % 3), own, start, size)).toBe(expected);
        }
      }),
    );
  });

  it("are cached", () => {
    const code = new Uint8Array(40).fill(7);
    const first = longWord(1e9, code, 1, 32);
    expect(longWord(1e9, new Uint8Array(40), 1, 32)).toBe(first);
    expect(longWord(1e9 + 1, new Uint8Array(40), 1, 32)).toBe(0n);
  });

  it("of two bytes have the value of the bytes", () => {
    expect([0, 1, 255, 256, 65_535].map(pairWord)).toEqual([0n, 1n, 255n, 256n, 65_535n]);
  });
});

describe("bytes of words", () => {
  it("are 32, or without leading zeros, in an array of their own", () => {
    const word = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
    fc.assert(
      fc.property(word, word, (one, other) => {
        const bytes = bytesOfWord(one);
        const trimmed = trimmedBytesOfWord(one);
        bytesOfWord(other);
        trimmedBytesOfWord(other);
        const digits = one.toString(16);
        expect(toHex(bytes)).toBe(`0x${digits.padStart(64, "0")}`);
        expect(toHex(trimmed)).toBe(
          one === 0n ? "0x" : `0x${digits.padStart(digits.length + (digits.length % 2), "0")}`,
        );
      }),
    );
  });
});

let used = 0;

/** A new code id whose words use the same slots as those of `id`. */
function idWithSlotsOf(id: number): number {
  return id + 65_536 * ++used;
}
