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
  const large = modulusBits > 8 * LARGE_BYTES ? yield* largeModulus(modulus, modulusBits) : undefined;
  const number = yield* remainder(base, modulus, large);
  if (number <= 1n) return number;
  if (power.length > SHORT_BYTES && modulusBits <= MONTGOMERY_BITS)
    return yield* smallPower(number, power, modulus);
  const multiply = large === undefined ? multiplier(modulus, modulusBits) : largeMultiplier(large);
  return yield* power.length > SHORT_BYTES
    ? powerByWindows(number, power, multiply)
    : powerByBits(number, power, multiply);
}

/** Shorter exponents do not justify a table of powers. */
const SHORT_BYTES = 4;
const SCANNED_IN_SLICE = 1024 * 1024;

function* withoutLeadingZeros(bytes: Uint8Array): Generator<undefined, Uint8Array> {
  let at = 0;
  while (at < bytes.length && bytes[at] === 0) {
    at++;
    if (at % SCANNED_IN_SLICE === 0) yield;
  }
  return bytes.subarray(at);
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

/**
 * Power modulo odd * 2^k in two parts (Chinese remainder theorem): Montgomery multiplication requires an odd modulus,
 * and modulo 2^k only the last k bits of the exponent matter.
 */
function* smallPower(base: bigint, exponent: Uint8Array, modulus: bigint): Generator<undefined, bigint> {
  let twos = 0n;
  while (((modulus >> twos) & 1n) === 0n) twos++;
  const odd = modulus >> twos;
  const first = odd === 1n ? 0n : yield* montgomeryPower(base % odd, exponent, odd);
  if (twos === 0n) return first;
  const bits = Number(twos);
  const second = powerOfTwoPart(base, exponent, bits);
  return first + odd * BigInt.asUintN(bits, (second - first) * inverseModulo(odd, bits));
}

/** base^exponent modulo 2^bits, for an exponent of more than SHORT_BYTES without leading zeros. */
function powerOfTwoPart(base: bigint, exponent: Uint8Array, bits: number): bigint {
  // The exponent is above MONTGOMERY_BITS, so the power is a multiple of 2^bits.
  if ((base & 1n) === 0n) return 0n;
  // The order of any odd number divides 2^bits, so lower bits of the exponent suffice.
  let left = BigInt.asUintN(bits, bytesToBigint(exponent.subarray(-MONTGOMERY_BITS / 8)));
  let result = 1n;
  for (let square = BigInt.asUintN(bits, base); left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = BigInt.asUintN(bits, result * square);
    square = BigInt.asUintN(bits, square * square);
  }
  return result;
}

/** 1 / odd modulo 2^bits, by Newton's iteration, which doubles the correct bits. */
function inverseModulo(odd: bigint, bits: number): bigint {
  let inverse = 1n;
  for (let right = 1; right < bits; right *= 2)
    inverse = BigInt.asUintN(bits, inverse * (2n - odd * inverse));
  return inverse;
}

/**
 * Multiplies two numbers modulo a third; yields if this multiplication, or the ones since the last yield, take long.
 */
type Multiply = (a: bigint, b: bigint) => Generator<undefined, bigint>;

function multiplier(modulus: bigint, modulusBits: number): Multiply {
  const words = Math.ceil(modulusBits / 64);
  const everyTimes = Math.max(1, Math.floor(WORK_IN_SLICE / (words * words + WORK_OF_CALL)));
  let times = 0;
  return function* (a, b) {
    if (++times % everyTimes === 0) yield;
    return (a * b) % modulus;
  };
}

function largeMultiplier(modulus: LargeModulus): Multiply {
  return (a, b) => multiplyModulo(a, b, modulus);
}

/** A millisecond, and the overhead of each multiplication, in products of two 64-bit words. */
const WORK_IN_SLICE = 600_000;
const WORK_OF_CALL = 300;

function* powerByBits(base: bigint, exponent: Uint8Array, multiply: Multiply): Generator<undefined, bigint> {
  let result: bigint | undefined;
  for (const bit of bytesToBigint(exponent).toString(2)) {
    if (result !== undefined) result = yield* multiply(result, result);
    if (bit === "1") result = result === undefined ? base : yield* multiply(result, base);
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
  for (let index = 2; index < 16; index++) table.push(yield* multiply(table[index - 1] as bigint, base));
  let result = 1n;
  for (let at = 0; at < 2 * exponent.length; at++) {
    const byte = exponent[at >> 1] as number;
    const bits = at % 2 === 0 ? byte >> 4 : byte & 15;
    if (result !== 1n) for (let square = 0; square < 4; square++) result = yield* multiply(result, result);
    if (bits !== 0) result = yield* multiply(result, table[bits] as bigint);
  }
  return result;
}

function bitLength(value: bigint): number {
  const digits = value.toString(16);
  return 4 * digits.length - Math.clz32(Number.parseInt(digits.charAt(0), 16)) + 28;
}
