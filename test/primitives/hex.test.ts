import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compareBytes,
  concatBytes,
  equalBytes,
  hexToBytes,
  parseHex,
  toDigits,
  toHex,
} from "../../src/primitives/hex.ts";

const bytes = fc.uint8Array({ maxLength: 200, size: "max" });

describe("hex text", () => {
  it("is lower case, two digits a byte, for any length and any view of a larger buffer", () => {
    fc.assert(
      fc.property(bytes, fc.nat({ max: 10 }), (content, offset) => {
        const view = concatBytes(new Uint8Array(offset), content).subarray(offset);
        const expected = [...content].map((byte) => byte.toString(16).padStart(2, "0")).join("");
        expect(toDigits(view)).toBe(expected);
        expect(toHex(view)).toBe(`0x${expected}`);
        expect(equalBytes(hexToBytes(toHex(view)), content)).toBe(true);
      }),
    );
  });

  it.each(["0xAb01", "0XaB01", "ab01", "AB01"])(
    "is parsed in either case, with or without a prefix: %s",
    (text) => {
      expect(toDigits(hexToBytes(text))).toBe("ab01");
    },
  );

  it.each(["0x1", "1", "0xzz", "0x 1", "0x0x", "12 ", "-1", "0x12\n"])(
    "is refused when malformed: %j",
    (text) => {
      expect(parseHex(text)).toBeUndefined();
      expect(() => hexToBytes(text)).toThrow(RangeError);
    },
  );

  it("can be empty", () => {
    expect(parseHex("0x")).toEqual(new Uint8Array(0));
    expect(parseHex("")).toEqual(new Uint8Array(0));
  });
});

describe("comparing bytes", () => {
  it("compares by value and in unsigned big-endian order, as their hex text does", () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        const [keyOfA, keyOfB] = [toDigits(a), toDigits(b)];
        expect(equalBytes(a, b)).toBe(keyOfA === keyOfB);
        expect(Math.sign(compareBytes(a, b))).toBe(keyOfA < keyOfB ? -1 : keyOfA > keyOfB ? 1 : 0);
      }),
    );
  });
});
