import fc from "fast-check";
import { numberToHex, toRlp } from "viem";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import {
  bigintToBytes,
  bigintToFixedBytes,
  bytesToBigint,
  toQuantity,
} from "../../src/primitives/quantity.ts";
import { encodeRlpString } from "../../src/primitives/rlp.ts";

const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });

describe("numbers as bytes", () => {
  it("have no leading zeros, and zero has no bytes", () => {
    fc.assert(
      fc.property(amount, (value) => {
        const bytes = bigintToBytes(value);
        expect(bytes[0]).not.toBe(0);
        expect(bytesToBigint(bytes)).toBe(value);
        expect(toHex(encodeRlpString(bytes))).toBe(toRlp(value === 0n ? "0x" : toHex(bytes)));
      }),
    );
    expect(bigintToBytes(0n)).toHaveLength(0);
    expect(bytesToBigint(new Uint8Array(0))).toBe(0n);
  });

  it("can be padded to a width, and must fit it", () => {
    expect(toHex(bigintToFixedBytes(0x1234n, 4))).toBe("0x00001234");
    expect(toHex(bigintToFixedBytes(0n, 2))).toBe("0x0000");
    expect(() => bigintToFixedBytes(0x10000n, 2)).toThrow(RangeError);
  });

  it("are never negative", () => {
    expect(() => bigintToBytes(-1n)).toThrow(RangeError);
  });
});

describe("quantities of JSON-RPC", () => {
  it("are written as viem writes them", () => {
    fc.assert(
      fc.property(amount, (value) => {
        expect(toQuantity(value)).toBe(numberToHex(value));
      }),
    );
    expect(toQuantity(0)).toBe("0x0");
    expect(toQuantity(255)).toBe("0xff");
  });
});
