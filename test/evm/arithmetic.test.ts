import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STATUS } from "../../src/evm/layout.ts";
import { IS_THOROUGH } from "../thorough.ts";
import { codeOf, runInCore } from "./coreRun.ts";

const ALL = 2n ** 256n - 1n;
const wrap = (word: bigint): bigint => BigInt.asUintN(256, word);
const signed = (word: bigint): bigint => BigInt.asIntN(256, word);

type Model = (a: bigint, b: bigint, c: bigint) => bigint;

/** What each instruction computes, with the topmost operand first. */
const MODELS: readonly (readonly [name: string, code: number, operands: number, model: Model])[] = [
  ["ADD", 0x01, 2, (a, b) => wrap(a + b)],
  ["MUL", 0x02, 2, (a, b) => wrap(a * b)],
  ["SUB", 0x03, 2, (a, b) => wrap(a - b)],
  ["DIV", 0x04, 2, (a, b) => (b === 0n ? 0n : a / b)],
  ["SDIV", 0x05, 2, (a, b) => (b === 0n ? 0n : wrap(signed(a) / signed(b)))],
  ["MOD", 0x06, 2, (a, b) => (b === 0n ? 0n : a % b)],
  ["SMOD", 0x07, 2, (a, b) => (b === 0n ? 0n : wrap(signed(a) % signed(b)))],
  ["ADDMOD", 0x08, 3, (a, b, m) => (m === 0n ? 0n : (a + b) % m)],
  ["MULMOD", 0x09, 3, (a, b, m) => (m === 0n ? 0n : (a * b) % m)],
  ["EXP", 0x0a, 2, powerOf],
  ["SIGNEXTEND", 0x0b, 2, (k, a) => (k > 30n ? a : wrap(BigInt.asIntN(8 * (Number(k) + 1), a)))],
  ["LT", 0x10, 2, (a, b) => (a < b ? 1n : 0n)],
  ["GT", 0x11, 2, (a, b) => (a > b ? 1n : 0n)],
  ["SLT", 0x12, 2, (a, b) => (signed(a) < signed(b) ? 1n : 0n)],
  ["SGT", 0x13, 2, (a, b) => (signed(a) > signed(b) ? 1n : 0n)],
  ["EQ", 0x14, 2, (a, b) => (a === b ? 1n : 0n)],
  ["ISZERO", 0x15, 1, (a) => (a === 0n ? 1n : 0n)],
  ["AND", 0x16, 2, (a, b) => a & b],
  ["OR", 0x17, 2, (a, b) => a | b],
  ["XOR", 0x18, 2, (a, b) => a ^ b],
  ["NOT", 0x19, 1, (a) => ALL - a],
  ["BYTE", 0x1a, 2, (k, a) => (k > 31n ? 0n : (a >> (8n * (31n - k))) & 0xffn)],
  ["SHL", 0x1b, 2, (by, a) => (by > 255n ? 0n : wrap(a << by))],
  ["SHR", 0x1c, 2, (by, a) => (by > 255n ? 0n : a >> by)],
  ["SAR", 0x1d, 2, (by, a) => wrap(signed(a) >> (by > 255n ? 255n : by))],
];

function powerOf(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = base, left = exponent; left > 0n; left >>= 1n, square = wrap(square * square))
    if (left & 1n) result = wrap(result * square);
  return result;
}

/** Words at the borders of limbs and signs, near powers of two, of few limbs, and any. */
const word = fc.oneof(
  fc.bigInt(0n, ALL),
  fc.bigInt(0n, 300n),
  fc.bigInt(0n, 2n ** 64n),
  fc.bigInt(0n, 2n ** 128n),
  fc
    .tuple(fc.integer({ min: 0, max: 256 }), fc.bigInt(-2n, 2n))
    .map(([bits, near]) => wrap(2n ** BigInt(bits) + near)),
  fc.bigInt(0n, 300n).map((near) => ALL - near),
  // Limbs of all ones and zeros, which make estimates of a quotient wrong.
  fc
    .array(fc.constantFrom(0n, 1n, 2n ** 63n, 2n ** 63n - 1n, 2n ** 64n - 2n, 2n ** 64n - 1n), {
      minLength: 4,
      maxLength: 4,
    })
    .map((limbs) => limbs.reduce((all, limb) => (all << 64n) | limb, 0n)),
);

describe.each(MODELS)("%s", (_, code, operands, model) => {
  it("computes what BigInt does", () => {
    const words = fc.array(word, { minLength: operands, maxLength: operands });
    const check = (taken: readonly bigint[]): void => {
      const end = runInCore(codeOf(code, ...taken));
      expect(end.status).toBe(STATUS.STOPPED);
      expect(end.stack).toEqual([model(taken[0] ?? 0n, taken[1] ?? 0n, taken[2] ?? 0n)]);
    };
    fc.assert(fc.property(words, check), { numRuns: IS_THOROUGH ? 6_000 : 500 });
  });
});
