import { concatBytes } from "../../../src/primitives/hex.ts";
import { bigintToBytes } from "../../../src/primitives/quantity.ts";
import type { Random } from "../../storage/random.ts";

/** Draws of values at the borders of what an instruction distinguishes. */

export function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[random.below(items.length)];
  if (item === undefined) throw new RangeError("nothing to pick from");
  return item;
}

export function chance(random: Random, percent: number): boolean {
  return random.below(100) < percent;
}

/** One of several by weight. */
export function weighted<T>(random: Random, items: readonly (readonly [weight: number, item: T])[]): T {
  let at = random.below(items.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, item] of items) {
    if (at < weight) return item;
    at -= weight;
  }
  throw new RangeError("nothing to pick from");
}

const BORDER_BITS = [1, 7, 8, 15, 16, 31, 32, 63, 64, 65, 96, 127, 128, 129, 159, 160, 191, 192, 254, 255];
/** Orders and field sizes of secp256k1 and of the pairing curves, which loops of cryptography reduce by. */
const PRIMES = [
  0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2fn,
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n,
  0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n,
  0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n,
];

/** A word: small, near a power of two, near the largest, of a few limbs, or random. */
export function word(random: Random): bigint {
  switch (random.below(10)) {
    case 0:
      return 0n;
    case 1:
      return 1n;
    case 2:
      return BigInt(random.below(300));
    case 3: {
      const border = 2n ** BigInt(pick(random, BORDER_BITS)) + BigInt(random.below(5) - 2);
      return BigInt.asUintN(256, chance(random, 25) ? -border : border);
    }
    case 4:
      return 2n ** 256n - 1n - BigInt(random.below(3));
    case 5:
      return pick(random, PRIMES) - BigInt(random.below(2));
    case 6:
      return limbs(random);
    case 7:
      return fromBytes(random.bytes(1 + random.below(32)));
    case 8:
      return fromBytes(new Uint8Array(1 + random.below(32)).fill(pick(random, [0x80, 0xff, 0x7f, 0x01])));
    default:
      return fromBytes(random.bytes(32));
  }
}

/** Four limbs of 64 bits, each of them zero, all ones, or random: carries go as far as they can. */
function limbs(random: Random): bigint {
  let value = 0n;
  for (let limb = 0; limb < 4; limb++)
    value = (value << 64n) | pick(random, [0n, 1n, 2n ** 63n, 2n ** 64n - 1n, fromBytes(random.bytes(8))]);
  return value;
}

function fromBytes(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
}

/** PUSH of a value in as few bytes as possible, or with leading zeros. */
export function push(value: bigint | number, width = 0): Uint8Array {
  const bytes = bigintToBytes(BigInt(value));
  const size = Math.max(1, bytes.length, width);
  return concatBytes(Uint8Array.of(0x5f + size), new Uint8Array(size - bytes.length), bytes);
}
