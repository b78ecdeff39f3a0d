import { bigintToFixedBytes, bytesToBigint, larger } from "../../primitives/quantity.ts";
import { failed, type PrecompileCall, type RunPrecompile, type SlicedWork, succeeded } from "./contract.ts";
import { modularPower } from "./modularPower.ts";

/** The gas of a call, from the longer of base and modulus in bytes, and the iteration count. */
type Price = (longest: bigint, iterations: bigint) => bigint;

/**
 * Precompiled contract 0x05 (EIP-198): lengths of base, exponent and modulus, one word each, then the three numbers;
 * missing bytes at the end are zero. Allocates nothing by these lengths before gas has paid for it.
 */
export function modexp(price: Price): RunPrecompile {
  return (call) => {
    const { data, gasLimit } = call;
    const baseLength = wordAt(data, 0);
    const exponentLength = wordAt(data, 32);
    const modulusLength = wordAt(data, 64);
    const iterations = iterationsOf(data, baseLength, exponentLength);
    const gas = price(larger(baseLength, modulusLength), iterations);
    if (gas > gasLimit) return failed(call, "outOfGas");
    return power(call, gas, [Number(baseLength), Number(exponentLength), Number(modulusLength)]);
  };
}

type Lengths = readonly [base: number, exponent: number, modulus: number];

function* power(call: PrecompileCall, gas: bigint, [baseLength, exponentLength, size]: Lengths): SlicedWork {
  const { data, memoryBudget } = call;
  const exponentAt = HEAD_BYTES + baseLength;
  const modulusAt = exponentAt + exponentLength;
  const modulus = partOf(data, modulusAt, size);
  const hasNoModulus = isZero(modulus, 0, modulus.length);
  const keptBytes = size * (hasNoModulus ? 1 : KEPT_FACTOR);
  memoryBudget?.take(keptBytes);
  const exponent = data.subarray(exponentAt, modulusAt);
  if (size > LONGEST_BYTES) {
    memoryBudget?.release(keptBytes);
    return succeeded(gas, trivialPower(size, modulus, exponent));
  }
  // If the modulus is not zero, base and exponent are complete, because they come before it.
  const result = hasNoModulus
    ? 0n
    : yield* modularPower(
        data.subarray(HEAD_BYTES, exponentAt),
        exponent,
        bytesToBigint(modulus) << BigInt(8 * (size - modulus.length)),
      );
  memoryBudget?.release(keptBytes);
  return succeeded(gas, bigintToFixedBytes(result, size));
}

const HEAD_BYTES = 96;
/** Longest modulus with which numbers are computed: 23 trillion gas, and half of BigInt's limit. */
const LONGEST_BYTES = 64 * 1024 * 1024;
/** Largest output: the largest array of Java, and so of Besu. */
const LONGEST_OUTPUT_BYTES = 2 ** 31 - 1;

/**
 * The power when nothing needs to be computed, because the modulus or the exponent is zero. Throws for others: no client
 * computes with numbers of this size in the time of a block, and a failure of the call would be a wrong answer.
 */
function trivialPower(size: number, modulus: Uint8Array, exponent: Uint8Array): Uint8Array {
  const hasModulus = !isZero(modulus, 0, modulus.length);
  if (size > LONGEST_OUTPUT_BYTES || (hasModulus && !isZero(exponent, 0, exponent.length)))
    throw new RangeError(`modular exponentiation with numbers of ${size} bytes is not possible here`);
  const output = new Uint8Array(size);
  const isOne = modulus.length === size && modulus[size - 1] === 1 && isZero(modulus, 0, size - 1);
  if (hasModulus && !isOne) output[size - 1] = 1;
  return output;
}

/** Memory per byte of modulus: the table of sixteen powers and intermediate numbers. */
const KEPT_FACTOR = 24;

/** EIP-198. */
export function eip198Price(longest: bigint, iterations: bigint): bigint {
  return (complexity(longest) * iterations) / 20n;
}

function complexity(length: bigint): bigint {
  if (length <= 64n) return length ** 2n;
  if (length <= 1024n) return length ** 2n / 4n + 96n * length - 3072n;
  return length ** 2n / 16n + 480n * length - 199_680n;
}

/** EIP-2565. */
export function eip2565Price(longest: bigint, iterations: bigint): bigint {
  const words = (longest + 7n) / 8n;
  return larger(200n, (words * words * iterations) / 3n);
}

/**
 * EIP-198's adjusted exponent length: the position of its highest bit, by its first word and its length; at least one.
 */
function iterationsOf(data: Uint8Array, baseLength: bigint, exponentLength: bigint): bigint {
  const headLength = exponentLength < 32n ? Number(exponentLength) : 32;
  const at = HEAD_BYTES + Number(baseLength);
  const present = partOf(data, at, headLength);
  const head = bytesToBigint(present) << BigInt(8 * (headLength - present.length));
  const headBits = head === 0n ? 0n : BigInt(head.toString(2).length - 1);
  return larger(1n, 8n * (exponentLength - BigInt(headLength)) + headBits);
}

function wordAt(data: Uint8Array, at: number): bigint {
  // Fast path: nearly all lengths are below 2^48, and words of data complete.
  if (data.length >= at + 32 && isZero(data, at, at + 26))
    return bytesToBigint(data.subarray(at + 26, at + 32));
  const present = partOf(data, at, 32);
  return bytesToBigint(present) << BigInt(8 * (32 - present.length));
}

function isZero(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] !== 0) return false;
  return true;
}

/** A view of `length` bytes from `at` on, as far as the data has them. */
function partOf(data: Uint8Array, at: number, length: number): Uint8Array {
  return data.subarray(Math.min(at, data.length), Math.min(at + length, data.length));
}
