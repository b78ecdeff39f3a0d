import { keccak_256 } from "@noble/hashes/sha3.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asAddress } from "../../src/primitives/address.ts";
import {
  asHash,
  EMPTY_CODE_HASH,
  EMPTY_LIST_HASH,
  EMPTY_TRIE_ROOT,
  keccak256,
} from "../../src/primitives/hash.ts";
import { toHex } from "../../src/primitives/hex.ts";

describe("keccak256", () => {
  it("agrees with the reference for lengths around its block size, and keeps earlier results intact", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 600, size: "max" }), { minLength: 2, maxLength: 4 }),
        (inputs) => {
          const hashes = inputs.map(keccak256);
          expect(hashes.map(toHex)).toEqual(inputs.map((input) => toHex(keccak_256(input))));
        },
      ),
    );
    for (let length = 130; length <= 140; length++) {
      const input = new Uint8Array(length).fill(length);
      expect(toHex(keccak256(input))).toBe(toHex(keccak_256(input)));
    }
  });

  it("gives the well-known hashes of empty code, trie and list", () => {
    expect(toHex(EMPTY_CODE_HASH)).toBe("0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
    expect(toHex(EMPTY_TRIE_ROOT)).toBe("0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421");
    expect(toHex(EMPTY_LIST_HASH)).toBe("0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347");
  });
});

describe("brands", () => {
  it("require the right length", () => {
    expect(asHash(new Uint8Array(32))).toHaveLength(32);
    expect(asAddress(new Uint8Array(20))).toHaveLength(20);
    for (const length of [0, 19, 21, 31, 33]) {
      expect(() => asHash(new Uint8Array(length))).toThrow(RangeError);
      expect(() => asAddress(new Uint8Array(length))).toThrow(RangeError);
    }
  });
});
