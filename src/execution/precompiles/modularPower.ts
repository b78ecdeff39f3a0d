import { EMPTY_BYTES } from "../../primitives/hex.ts";
import { bytesToBigint } from "../../primitives/quantity.ts";
import { LARGE_BYTES, type LargeModulus, largeModulus, multiplyModulo, reduceLarge } from "./largeNumbers.ts";
import { MONTGOMERY_BITS, montgomeryPower } from "./montgomery.ts";

/**
 * base^exponent modulo a number of at least one; bytes are big-endian. Time is linear in the length of the exponent,
 * and at most quadratic in the longer of base and modulus. Yields every few milliseconds.
 */
export function* modularPower(
  base: Uint8Array,
  exponent: Uint8Array,
  modulus: bigint,
): Generator<undefined, bigint> {
  if (modulus === 1n) return 0n;
  const power = yield* withoutLeadingZeros(exponent);
  if (power.length === 0) return 1n;
  const modulusBits = bitLength(modulus);
  const twos = trailingZeros(modulus);
  // Modulo a power of two only the last bits of the base matter as well.
  const rest = twos === modulusBits - 1 ? base.subarray(-Math.ceil(modulusBits / 8)) : base;
  const large = modulusBits > 8 * LARGE_BYTES ? yield* largeModulus(modulus, modulusBits) : undefined;
  const number = yield* remainder(rest, modulus, large);
  if (number <= 1n) return number;
  if (large !== undefined) return yield* powerWith(largeMultiplier(large), number, power);
  return isWorthParts(power, modulusBits, twos)
    ? yield* powerInParts(number, power, modulus, twos)
    : yield* smallPower(number, power, modulus, modulusBits);
}

/** Shorter exponents do not justify a table of powers. */
const SHORT_BYTES = 4;
/** Number of factors of two above which a modulus is worth computing in two parts. */
const MANY_TWOS = 64;
const SCANNED_IN_SLICE = 1024 * 1024;

function* withoutLeadingZeros(bytes: Uint8Array): Generator<undefined, Uint8Array> {
  for (let from = 0; from < bytes.length; from += SCANNED_IN_SLICE) {
    if (from > 0) yield;
    const end = Math.min(bytes.length, from + SCANNED_IN_SLICE);
    for (let at = from; at < end; at++) if (bytes[at] !== 0) return bytes.subarray(at);
  }
  return EMPTY_BYTES;
}

function* remainder(
  bytes: Uint8Array,
  modulus: bigint,
  large: LargeModulus | undefined,
): Generator<undefined, bigint> {
  const value = bytesToBigint(bytes);
  if (bytes.length <= 2 * LARGE_BYTES) return value % modulus;
  if (large !== undefined) return yield* reduceLarge(value, 8 * bytes.length, large);
  let result = 0n;
  for (let at = 0; at < bytes.length; at += LARGE_BYTES) {
    const digit = bytes.subarray(at, at + LARGE_BYTES);
    result = ((result << BigInt(8 * digit.length)) + bytesToBigint(digit)) % modulus;
    yield;
  }
  return result;
}

function isWorthParts(exponent: Uint8Array, modulusBits: number, twos: number): boolean {
  if (exponent.length <= SHORT_BYTES) return twos === modulusBits - 1;
  return twos >= (modulusBits <= MONTGOMERY_BITS ? 1 : MANY_TWOS);
}

/** The power of a base below the modulus, which has at most LARGE_BYTES, and is odd if Montgomery multiplication applies. */
function* smallPower(
  base: bigint,
  exponent: Uint8Array,
  modulus: bigint,
  modulusBits: number,
): Generator<undefined, bigint> {
  if (base <= 1n) return base;
  return yield* exponent.length > SHORT_BYTES && modulusBits <= MONTGOMERY_BITS
    ? montgomeryPower(base, exponent, modulus)
    : powerWith(multiplier(modulus, modulusBits), base, exponent);
}

/**
 * Power modulo odd * 2^bits in two parts (Chinese remainder theorem): Montgomery multiplication requires an odd modulus,
 * and modulo 2^bits no division is needed, and only the last bits of the exponent matter.
 */
function* powerInParts(
  base: bigint,
  exponent: Uint8Array,
  modulus: bigint,
  bits: number,
): Generator<undefined, bigint> {
  const odd = modulus >> BigInt(bits);
  const second = yield* powerOfTwoPart(base, exponent, bits);
  if (odd === 1n) return second;
  const first = yield* smallPower(base % odd, exponent, odd, bitLength(odd));
  return first + odd * BigInt.asUintN(bits, (second - first) * inverseModulo(odd, bits));
}

/** base^exponent modulo 2^bits, for a base that is not zero. */
function* powerOfTwoPart(base: bigint, exponent: Uint8Array, bits: number): Generator<undefined, bigint> {
  const multiply = paced(bits, (a, b) => BigInt.asUintN(bits, a * b));
  const factor = BigInt.asUintN(bits, base);
  if ((base & 1n) === 0n) {
    // A longer exponent is above the bits of any modulus that is not large.
    const isLong = exponent.length > SHORT_BYTES;
    if (isLong || bytesToBigint(exponent) * BigInt(trailingZeros(base)) >= bits) return 0n;
    return yield* powerWith(multiply, factor, exponent);
  }
  // The order of any odd number divides 2^bits, so lower bits of the exponent suffice.
  return yield* powerWith(multiply, factor, exponent.subarray(-Math.ceil(bits / 8)));
}

/** 1 / odd modulo 2^bits, by Newton's iteration, which doubles the correct bits. */
function inverseModulo(odd: bigint, bits: number): bigint {
  let inverse = 1n;
  for (let right = 1; right < bits; ) {
    right = Math.min(2 * right, bits);
    inverse = BigInt.asUintN(right, inverse * (2n - BigInt.asUintN(right, odd) * inverse));
  }
  return inverse;
}

/**
 * Multiplies two numbers modulo a third: at once, or by work that yields, if this multiplication or the ones since the
 * last yield take long.
 */
type Multiply = (a: bigint, b: bigint) => bigint | Generator<undefined, bigint>;

function multiplier(modulus: bigint, modulusBits: number): Multiply {
  return paced(modulusBits, (a, b) => (a * b) % modulus);
}

function paced(bits: number, multiply: (a: bigint, b: bigint) => bigint): Multiply {
  const words = Math.ceil(bits / 64);
  const everyTimes = Math.max(1, Math.floor(WORK_IN_SLICE / (words * words + WORK_OF_CALL)));
  let times = 0;
  return (a, b) => (++times % everyTimes === 0 ? multiplyAfterYield(multiply, a, b) : multiply(a, b));
}

function* multiplyAfterYield(
  multiply: (a: bigint, b: bigint) => bigint,
  a: bigint,
  b: bigint,
): Generator<undefined, bigint> {
  yield;
  return multiply(a, b);
}

function largeMultiplier(modulus: LargeModulus): Multiply {
  return (a, b) => multiplyModulo(a, b, modulus);
}

/** Work of a millisecond, and the overhead of each multiplication, in products of two 64-bit words. */
const WORK_IN_SLICE = 600_000;
const WORK_OF_CALL = 300;

function powerWith(multiply: Multiply, base: bigint, exponent: Uint8Array): Generator<undefined, bigint> {
  return exponent.length > SHORT_BYTES
    ? powerByWindows(base, exponent, multiply)
    : powerByBits(base, exponent, multiply);
}

function* powerByBits(base: bigint, exponent: Uint8Array, multiply: Multiply): Generator<undefined, bigint> {
  let result: bigint | undefined;
  for (const bit of bytesToBigint(exponent).toString(2)) {
    if (result !== undefined) {
      const square = multiply(result, result);
      result = typeof square === "bigint" ? square : yield* square;
    }
    if (bit === "0") continue;
    const product = result === undefined ? base : multiply(result, base);
    result = typeof product === "bigint" ? product : yield* product;
  }
  return result ?? 1n;
}

/** Takes four bits of the exponent at a time, with a table of the first sixteen powers of the base. */
function* powerByWindows(
  base: bigint,
  exponent: Uint8Array,
  multiply: Multiply,
): Generator<undefined, bigint> {
  const table = [1n, base];
  for (let index = 2; index < 16; index++) {
    const power = multiply(table[index - 1] as bigint, base);
    table.push(typeof power === "bigint" ? power : yield* power);
  }
  let result = 1n;
  for (let at = 0; at < 2 * exponent.length; at++) {
    const byte = exponent[at >> 1] as number;
    const bits = at % 2 === 0 ? byte >> 4 : byte & 15;
    for (let times = 0; times < 4 && result !== 1n; times++) {
      const square = multiply(result, result);
      result = typeof square === "bigint" ? square : yield* square;
    }
    if (bits === 0) continue;
    const product = multiply(result, table[bits] as bigint);
    result = typeof product === "bigint" ? product : yield* product;
  }
  return result;
}

function bitLength(value: bigint): number {
  const digits = value.toString(16);
  return 4 * digits.length - Math.clz32(Number.parseInt(digits.charAt(0), 16)) + 28;
}

/** Number of factors of two in a value, which is not zero. */
function trailingZeros(value: bigint): number {
  const low = Number(BigInt.asUintN(32, value));
  return low === 0 ? bitLength(value & -value) - 1 : 31 - Math.clz32(low & -low);
}
