/**
 * Products modulo a number so large that one BigInt division would block the thread: division takes five times as long
 * as multiplication there, so it multiplies by the reciprocal (Barrett), and splits long multiplications (Karatsuba).
 */
export interface LargeModulus {
  readonly value: bigint;
  readonly bits: number;
  /** The value of 2^(2 bits) / value, off by a few at most. */
  readonly reciprocal: bigint;
}

/** Size above which one multiplication and division takes several milliseconds. */
export const LARGE_BYTES = 16 * 1024;

/** Prepares a modulus of exactly `bits` bits. */
export function* largeModulus(value: bigint, bits: number): Generator<undefined, LargeModulus> {
  return { value, bits, reciprocal: yield* reciprocalOf(value, bits) };
}

/** a * b modulo the modulus, for numbers below it. */
export function* multiplyModulo(a: bigint, b: bigint, modulus: LargeModulus): Generator<undefined, bigint> {
  return yield* reduced(yield* multiply(a, b, modulus.bits), modulus);
}

/** The remainder of a number of `bits` bits. */
export function* reduceLarge(
  value: bigint,
  bits: number,
  modulus: LargeModulus,
): Generator<undefined, bigint> {
  const block = BigInt(modulus.bits);
  let remainder = 0n;
  for (let at = Math.ceil(bits / modulus.bits) - 1; at >= 0; at--) {
    const digit = BigInt.asUintN(modulus.bits, value >> (BigInt(at) * block));
    remainder = yield* reduced((remainder << block) + digit, modulus);
  }
  return remainder;
}

/** The remainder of a number of at most twice the modulus's bits. */
function* reduced(
  value: bigint,
  { value: modulus, bits, reciprocal }: LargeModulus,
): Generator<undefined, bigint> {
  const top = value >> BigInt(bits - 1);
  const quotient = (yield* multiply(top, reciprocal, bits + 1)) >> BigInt(bits + 1);
  let remainder = value - (yield* multiply(quotient, modulus, bits));
  // The quotient is off by a few at most.
  while (remainder < 0n) remainder += modulus;
  while (remainder >= modulus) remainder -= modulus;
  return remainder;
}

/** 2^(2 bits) / value by Newton's iteration, which doubles the correct bits; off by a few. */
function* reciprocalOf(value: bigint, bits: number): Generator<undefined, bigint> {
  if (bits <= 8 * LARGE_BYTES) {
    yield;
    return (1n << BigInt(2 * bits)) / value;
  }
  const half = Math.ceil(bits / 2) + GUARD_BITS;
  const known = yield* reciprocalOf(value >> BigInt(bits - half), half);
  const square = yield* multiply(known, known, half + 1);
  const correction = (yield* multiply(square, value, bits + 2 * GUARD_BITS + 2)) >> BigInt(2 * half);
  return (known << BigInt(bits - half + 1)) - correction;
}

const GUARD_BITS = 16;

/** Multiplies numbers of at most about `bits` bits. Yields after each part. */
function* multiply(a: bigint, b: bigint, bits: number): Generator<undefined, bigint> {
  if (bits <= PART_BITS) {
    yield;
    return a * b;
  }
  const half = Math.ceil(bits / 2);
  const shift = BigInt(half);
  const [lowA, lowB] = [BigInt.asUintN(half, a), BigInt.asUintN(half, b)];
  const [highA, highB] = [a >> shift, b >> shift];
  const low = yield* multiply(lowA, lowB, half);
  const high = yield* multiply(highA, highB, half);
  const middle = (yield* multiply(lowA + highA, lowB + highB, half + 1)) - low - high;
  return (((high << shift) + middle) << shift) + low;
}

/** Multiplying numbers of 64 KB takes about 3 ms. */
const PART_BITS = 8 * 64 * 1024 + 64;
