import {
  type Code,
  END,
  exported,
  getLocal,
  I32,
  I64,
  i32Const,
  i64Const,
  leb,
  PREAMBLE,
  section,
  setLocal,
  sized,
  vector,
} from "./wasm.ts";

/**
 * Powers modulo an odd number of `limbs` limbs of 32 bits, by Montgomery multiplication, as a WebAssembly module: for
 * numbers of up to 32 bytes it takes a third to a tenth of the time of BigInt, which allocates each product and
 * quotient.
 *
 * Memory: numbers are limbs, the least significant first, each number at a multiple of NUMBER_BYTES. -1 / modulus
 * modulo 2^32 at INVERSE_AT. Exports: `memory`; `multiply(a, b, product)`, which takes addresses that may be equal;
 * `raise(count)`, which applies `count` bytes of the exponent to the number at POWER_AT, with the factors from the
 * table of sixteen.
 */
export function montgomeryModule(limbs: number): Code {
  return [
    ...PREAMBLE,
    ...section(
      1,
      vector([
        [0x60, 3, I32, I32, I32, 0],
        [0x60, 1, I32, 0],
      ]),
    ),
    ...section(3, vector([[0], [1]])),
    ...section(5, vector([[0, 1]])),
    ...section(
      7,
      vector([exported("memory", 2, 0), exported("multiply", 0, MULTIPLY), exported("raise", 0, RAISE)]),
    ),
    ...section(10, vector([sized(multiplyBody(limbs)), sized(raiseBody())])),
  ];
}

export const NUMBER_BYTES = 32;
export const MODULUS_AT = 0;
export const INVERSE_AT = 32;
export const POWER_AT = 64;
/** The powers of the base from 0 to 15, for four bits of the exponent at once. */
export const TABLE_AT = 96;
/** Everything that must be saved between two slices lies below this address. */
export const EXPONENT_AT = TABLE_AT + 16 * NUMBER_BYTES;

const MULTIPLY = 0;
const RAISE = 1;

const ADD = 0x7c;
const SUBTRACT = 0x7d;
const TIMES = 0x7e;
const AND = 0x83;
const SHIFT_SIGNED = 0x87;
const SHIFT = 0x88;
const LOW: Code = [...i64Const(0xffff_ffffn), AND];
const HIGH: Code = [...i64Const(32n), SHIFT];

/** Parameters and locals of `multiply`: three addresses, the end of b, then 64 bits each. */
const [A, B, PRODUCT, B_END] = [0, 1, 2, 3];
const [SUM, CARRY, DIGIT, FACTOR, INVERSE] = [4, 5, 6, 7, 8];
const NUMBERS = 9;

/**
 * Coarsely integrated operand scanning (Koç, Acar, Kaliski 1996): for each limb of b, sum += a * limb, then sum +=
 * modulus * factor, which makes the lowest limb zero, and sum is shifted by a limb. A limb, a product and a carry fit
 * into 64 bits.
 */
function multiplyBody(limbs: number): Code {
  const each = Array.from({ length: limbs }, (_, limb) => limb);
  const a = (limb: number): number => NUMBERS + limb;
  const modulus = (limb: number): number => NUMBERS + limbs + limb;
  /** The sum has one limb more than a number. */
  const total = (limb: number): number => NUMBERS + 2 * limbs + limb;
  const product = (left: number, right: number): Code => [...getLocal(left), ...getLocal(right), TIMES];
  const addCarry: Code = [...getLocal(CARRY), ADD];
  const splitInto = (target: number): Code => [
    ...[...setLocal(SUM), ...getLocal(SUM), ...LOW, ...setLocal(target)],
    ...[...getLocal(SUM), ...HIGH, ...setLocal(CARRY)],
  ];
  const addProduct = each.flatMap((limb) => [
    ...[...product(a(limb), DIGIT), ...getLocal(total(limb)), ADD],
    ...(limb === 0 ? [] : addCarry),
    ...splitInto(total(limb)),
  ]);
  const addMultiple = each.flatMap((limb) => [
    ...[...product(modulus(limb), FACTOR), ...getLocal(total(limb)), ADD],
    ...(limb === 0 ? [...HIGH, ...setLocal(CARRY)] : [...addCarry, ...splitInto(total(limb - 1))]),
  ]);
  const difference = each.flatMap((limb) => [
    ...[...getLocal(total(limb)), ...getLocal(modulus(limb)), SUBTRACT, ...addCarry, ...setLocal(SUM)],
    ...[...getLocal(PRODUCT), ...getLocal(SUM), ...storeLimb(limb)],
    ...[...getLocal(SUM), ...i64Const(63n), SHIFT_SIGNED, ...setLocal(CARRY)],
  ]);
  return [
    ...vector([
      [1, I32],
      [...leb(NUMBERS - SUM + 3 * limbs + 1), I64],
    ]),
    ...each.flatMap((limb) => [...getLocal(A), ...loadLimb(4 * limb), ...setLocal(a(limb))]),
    ...each.flatMap((limb) => [...i32Const(MODULUS_AT), ...loadLimb(4 * limb), ...setLocal(modulus(limb))]),
    ...[...i32Const(INVERSE_AT), ...loadLimb(0), ...setLocal(INVERSE)],
    ...[...getLocal(B), ...i32Const(4 * limbs), 0x6a, ...setLocal(B_END)],
    ...[0x03, 0x40], // loop
    ...[...getLocal(B), ...loadLimb(0), ...setLocal(DIGIT)],
    ...addProduct,
    ...[...getLocal(total(limbs)), ...addCarry, ...setLocal(total(limbs))],
    ...[...product(total(0), INVERSE), ...LOW, ...setLocal(FACTOR)],
    ...addMultiple,
    ...[...getLocal(total(limbs)), ...addCarry, ...splitInto(total(limbs - 1))],
    ...[...getLocal(CARRY), ...setLocal(total(limbs))],
    ...[...getLocal(B), ...i32Const(4), 0x6a, 0x22, B, ...getLocal(B_END), 0x47, 0x0d, 0, END], // again unless at the end
    ...[...i64Const(0n), ...setLocal(CARRY)],
    ...difference,
    // The subtraction underflowed: the result is the sum itself.
    ...[...getLocal(total(limbs)), ...addCarry, ...i64Const(0n), 0x53, 0x04, 0x40],
    ...each.flatMap((limb) => [...getLocal(PRODUCT), ...getLocal(total(limb)), ...storeLimb(limb)]),
    ...[END, END],
  ];
}

/** Locals of `raise`: remaining bytes (a parameter), the address of the next, and four of its bits. */
const [COUNT, AT, BITS] = [0, 1, 2];

function raiseBody(): Code {
  const square: Code = [...i32Const(POWER_AT), ...i32Const(POWER_AT), ...i32Const(POWER_AT), 0x10, MULTIPLY];
  const factorAt: Code = [...getLocal(BITS), ...i32Const(5), 0x74, ...i32Const(TABLE_AT), 0x6a];
  const half = (bits: Code): Code => [
    ...[...square, ...square, ...square, ...square],
    ...[...getLocal(AT), 0x2d, 0, 0, ...bits, 0x22, BITS, 0x04, 0x40], // if any bit is set
    ...[...i32Const(POWER_AT), ...factorAt, ...i32Const(POWER_AT), 0x10, MULTIPLY, END],
  ];
  return [
    ...vector([[2, I32]]),
    ...[...i32Const(EXPONENT_AT), ...setLocal(AT)],
    ...[0x02, 0x40, 0x03, 0x40], // block, loop
    ...[...getLocal(COUNT), 0x45, 0x0d, 1], // leave the block when no byte is left
    ...half([...i32Const(4), 0x76]),
    ...half([...i32Const(15), 0x71]),
    ...[...getLocal(AT), ...i32Const(1), 0x6a, ...setLocal(AT)],
    ...[...getLocal(COUNT), ...i32Const(1), 0x6b, ...setLocal(COUNT)],
    ...[0x0c, 0, END, END, END], // again
  ];
}

/** A limb, as 64 bits. */
function loadLimb(offset: number): Code {
  return [0x35, 2, ...leb(offset)];
}

function storeLimb(limb: number): Code {
  return [0x3e, 2, ...leb(4 * limb)];
}
