import { bigintToFixedBytes, bytesToBigint } from "../../primitives/quantity.ts";
import {
  EXPONENT_AT,
  INVERSE_AT,
  MODULUS_AT,
  montgomeryModule,
  NUMBER_BYTES,
  POWER_AT,
  TABLE_AT,
} from "./montgomeryModule.ts";
import { instantiate } from "./wasm.ts";

/** Size of modulus up to which the module is faster than BigInt. */
export const MONTGOMERY_BITS = 8 * NUMBER_BYTES;

/** base^exponent modulo an odd number below 2^MONTGOMERY_BITS, with base below it. Yields every few milliseconds. */
export function* montgomeryPower(
  base: bigint,
  exponent: Uint8Array,
  modulus: bigint,
): Generator<undefined, bigint> {
  const limbs = LIMBS.find((count) => modulus < 1n << BigInt(32 * count)) ?? MAX_LIMBS;
  const instance = instanceFor(limbs);
  const { bytes, multiply, raise } = instance;
  const shift = BigInt(32 * limbs);
  const write = (at: number, value: bigint): void => {
    bytes.set(bigintToFixedBytes(value, NUMBER_BYTES).reverse(), at);
  };
  const one = (1n << shift) % modulus;
  write(MODULUS_AT, modulus);
  write(INVERSE_AT, inverseOf(modulus));
  write(POWER_AT, one);
  write(TABLE_AT, one);
  write(TABLE_AT + NUMBER_BYTES, (base << shift) % modulus);
  for (let at = TABLE_AT + 2 * NUMBER_BYTES; at < EXPONENT_AT; at += NUMBER_BYTES)
    multiply(at - NUMBER_BYTES, TABLE_AT + NUMBER_BYTES, at);
  for (let at = 0; at < exponent.length; at += BYTES_IN_SLICE) {
    if (at > 0) {
      // Other calls may use the memory in between.
      const state = bytes.slice(0, EXPONENT_AT);
      yield;
      bytes.set(state);
    }
    const part = exponent.subarray(at, at + BYTES_IN_SLICE);
    bytes.set(part, EXPONENT_AT);
    raise(part.length);
  }
  write(TABLE_AT, 1n);
  multiply(POWER_AT, TABLE_AT, POWER_AT);
  return bytesToBigint(bytes.slice(POWER_AT, POWER_AT + NUMBER_BYTES).reverse());
}

/** Bytes of the exponent in a slice, with at most 10 multiplications of 0.2 µs for each. */
const BYTES_IN_SLICE = 1024;

const LIMBS = [2, 4, 6];
const MAX_LIMBS = NUMBER_BYTES / 4;

/** -1 / modulus modulo 2^32, by Newton's iteration, which doubles the correct bits. */
function inverseOf(modulus: bigint): bigint {
  let inverse = 1n;
  for (let bits = 1; bits < 32; bits *= 2) inverse = BigInt.asUintN(32, inverse * (2n - modulus * inverse));
  return BigInt.asUintN(32, -inverse);
}

interface PowerInstance {
  readonly bytes: Uint8Array;
  multiply(a: number, b: number, product: number): void;
  raise(count: number): void;
}

const instances = new Map<number, PowerInstance>();

function instanceFor(limbs: number): PowerInstance {
  let instance = instances.get(limbs);
  if (instance === undefined) {
    const { memory, multiply, raise } = instantiate(montgomeryModule(limbs)) as Omit<
      PowerInstance,
      "bytes"
    > & {
      readonly memory: { readonly buffer: ArrayBuffer };
    };
    instance = { bytes: new Uint8Array(memory.buffer), multiply, raise };
    instances.set(limbs, instance);
  }
  return instance;
}
