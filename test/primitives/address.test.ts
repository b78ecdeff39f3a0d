import { describe, expect, it } from "vitest";
import { addressOfWord } from "../../src/primitives/address.ts";
import { toHex } from "../../src/primitives/hex.ts";

describe("an address in a word", () => {
  it("is its low 20 bytes, without the high bytes", () => {
    expect(toHex(addressOfWord(0x0dn))).toBe(`0x${"0".repeat(39)}d`);
    expect(toHex(addressOfWord(2n ** 256n - 1n))).toBe(`0x${"f".repeat(40)}`);
  });
});
