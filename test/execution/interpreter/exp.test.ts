import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exponentBytes, power } from "../../../src/execution/interpreter/exp.ts";

const LIMIT = 2n ** 256n;

describe("power", () => {
  it("equals repeated squaring, bit by bit", () => {
    const word = fc.oneof(
      fc.bigInt({ min: 0n, max: 40n }),
      fc.bigInt({ min: 0n, max: LIMIT - 1n }),
      fc.constantFrom(LIMIT - 1n, LIMIT / 2n, 255n, 256n, 257n),
    );
    fc.assert(
      fc.property(word, word, (base, exponent) => power(base, exponent) === bitByBit(base, exponent)),
    );
  });

  it("is priced by the bytes of the exponent", () => {
    const sizes = [0n, 1n, 0xffn, 0x100n, 0xfffn, 0xffffn, 0x10000n, LIMIT - 1n].map(exponentBytes);
    expect(sizes).toEqual([0, 1, 1, 2, 2, 2, 3, 32]);
  });
});

function bitByBit(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2))
    result = (((result * result) % LIMIT) * (bit === "1" ? base : 1n)) % LIMIT;
  return result;
}
