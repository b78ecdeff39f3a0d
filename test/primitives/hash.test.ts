import { keccak_256 } from "@noble/hashes/sha3.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asAddress } from "../../src/primitives/address.ts";
import {
  asHash,
  createRunningKeccak,
  EMPTY_CODE_HASH,
  EMPTY_LIST_HASH,
  EMPTY_TRIE_ROOT,
  keccak256,
} from "../../src/primitives/hash.ts";
import { concatBytes, toHex } from "../../src/primitives/hex.ts";

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

  it("agrees with the reference for inputs that are longer than the module's memory", () => {
    for (const length of [65_415, 65_416, 65_417, 200_000]) {
      const input = new Uint8Array(length).map((_, at) => at % 251);
      expect(toHex(keccak256(input))).toBe(toHex(keccak_256(input)));
    }
  });

  it("gives the well-known hashes of empty code, trie and list", () => {
    expect(toHex(EMPTY_CODE_HASH)).toBe("0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
    expect(toHex(EMPTY_TRIE_ROOT)).toBe("0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421");
    expect(toHex(EMPTY_LIST_HASH)).toBe("0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347");
  });
});

describe("createRunningKeccak", () => {
  it("absorbs on after a digest, beside others", () => {
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 300, size: "max" }),
      fc.constant(new Uint8Array(70_000).fill(7)),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(part, fc.boolean()), { maxLength: 8 }), (parts) => {
        const own = [createRunningKeccak(), createRunningKeccak()] as const;
        const absorbed: [Uint8Array[], Uint8Array[]] = [[], []];
        for (const [bytes, isFirst] of parts) {
          const which = isFirst ? 0 : 1;
          own[which].update(bytes);
          absorbed[which].push(bytes);
          for (const one of [0, 1] as const)
            expect(toHex(own[one].digest())).toBe(toHex(keccak_256(concatBytes(...absorbed[one]))));
        }
      }),
      { numRuns: 10 },
    );
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
