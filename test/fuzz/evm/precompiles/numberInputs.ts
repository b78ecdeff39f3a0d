import { secp256k1 } from "@noble/curves/secp256k1.js";
import { concatBytes } from "../../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../../src/primitives/quantity.ts";
import type { Random } from "../../../storage/random.ts";
import { word as anyWord, chance, pick, weighted } from "../draws.ts";

const word = (value: bigint | number): Uint8Array =>
  bigintToFixedBytes(BigInt.asUintN(256, BigInt(value)), 32);
const toNumber = (bytes: Uint8Array): bigint => BigInt(`0x0${Buffer.from(bytes).toString("hex")}`);

const CURVE = secp256k1.Point;
const ORDER = CURVE.Fn.ORDER;
const FIELD = CURVE.Fp.ORDER;

/** A signature to recover (0x01): valid ones, those whose key is at infinity, and numbers at the borders. */
export function aRecovery(random: Random): Uint8Array {
  const nonce = chance(random, 10)
    ? BigInt(1 + random.below(3))
    : (toNumber(random.bytes(32)) % (ORDER - 1n)) + 1n;
  const point = CURVE.BASE.multiply(nonce).toAffine();
  const s = chance(random, 15) ? ORDER - 1n : (toNumber(random.bytes(32)) % (ORDER - 1n)) + 1n;
  // The key is (s R - digest G) / r: with the digest s k it is at infinity, with -s k both summands are equal.
  const digest = weighted(random, [
    [10, toNumber(random.bytes(32))],
    [3, (s * nonce) % ORDER],
    [3, ORDER - ((s * nonce) % ORDER)],
    [1, ((s * nonce) % ORDER) + ORDER],
    [3, pick(random, [0n, 1n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 256n - 1n])],
  ]);
  const r = chance(random, 75) ? point.x % ORDER : pick(random, BORDERS) + BigInt(random.below(3) - 1);
  const v = 27n + (point.y & 1n);
  return concatBytes(
    word(digest),
    word(chance(random, 80) ? v : aRecoveryValue(random, v)),
    word(r),
    word(chance(random, 85) ? s : pick(random, BORDERS) + BigInt(random.below(3) - 1)),
  );
}

/** Zero, the order, half of it, the modulus, and so much of the modulus as is above the order. */
const BORDERS = [0n, 1n, ORDER, ORDER / 2n, FIELD, FIELD - ORDER, 2n ** 256n - 2n, 2n ** 255n, 4n, 5n];

function aRecoveryValue(random: Random, v: bigint): bigint {
  switch (random.below(4)) {
    case 0:
      return BigInt(pick(random, [0, 1, 25, 26, 27, 28, 29, 30, 255]));
    case 1:
      return v + (1n << BigInt(8 + random.below(248)));
    case 2:
      return v << 8n;
    default:
      return 55n - v;
  }
}

/** Lengths at which an implementation may change its way. */
const LENGTHS = [
  0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 96, 127, 128, 129, 256,
];
const LONG_LENGTHS = [1023, 1024, 1025, 2048, 4096];

/** A power modulo a number (0x05): lengths, then numbers; numbers may end before their length. */
export function aPower(random: Random): Uint8Array {
  const lengthOf = (): number =>
    weighted(random, [
      [60, pick(random, LENGTHS)],
      [30, random.below(70)],
      [2, pick(random, LONG_LENGTHS)],
    ]);
  const [baseLength, exponentLength, modulusLength] = [lengthOf(), lengthOf(), lengthOf()];
  const modulus = aModulus(random, modulusLength);
  const base = aBase(random, baseLength, modulus);
  const exponent = anExponent(random, exponentLength);
  const header = [baseLength, exponentLength, modulusLength].map((length) =>
    word(chance(random, 96) ? length : aLength(random, length)),
  );
  const input = concatBytes(...header, base, exponent, modulus);
  // Cut anywhere, often at the end of a part.
  if (chance(random, 80)) return input;
  const ends = [0, 31, 32, 64, 95, 96, 96 + baseLength, 96 + baseLength + exponentLength];
  return input.subarray(
    0,
    chance(random, 60) ? pick(random, ends) + random.below(2) : random.below(input.length + 1),
  );
}

function aLength(random: Random, length: number): bigint {
  return pick(random, [
    ...[
      2n ** 31n - 1n,
      2n ** 31n,
      2n ** 32n - 1n,
      2n ** 32n,
      2n ** 53n,
      2n ** 63n,
      2n ** 64n - 1n,
      2n ** 64n,
    ],
    ...[2n ** 64n - 31n, 2n ** 64n - 7n, 2n ** 128n, 2n ** 255n, 2n ** 256n - 1n, 2n ** 256n - 32n],
    BigInt(length) + 2n ** BigInt(32 + random.below(220)),
    BigInt(length + 1),
    anyWord(random),
  ]);
}

/** One up to `most`, after zeros. */
function small(random: Random, bytes: Uint8Array, most: number): Uint8Array {
  bytes.fill(0);
  if (bytes.length > 0) bytes[bytes.length - 1] = 1 + random.below(most);
  return bytes;
}

function aModulus(random: Random, length: number): Uint8Array {
  const bytes = random.bytes(length);
  switch (random.below(10)) {
    case 0:
      return bytes.fill(0);
    case 1:
      return small(random, bytes, 3);
    case 2: {
      // A power of two, or its neighbour.
      const value = (1n << BigInt(random.below(8 * length + 1))) - BigInt(random.below(2));
      return bigintToFixedBytes(BigInt.asUintN(8 * length, value), length);
    }
    case 3:
      // Many twos.
      return bytes.fill(0, length - random.below(length + 1));
    case 4:
      return bytes.fill(0, 0, random.below(length + 1));
    case 5:
      return bytes.fill(0xff);
    case 6:
      // Odd, so that a power may be made by Montgomery's way.
      if (length > 0) bytes[length - 1] = (bytes[length - 1] ?? 0) | 1;
      return bytes;
    default:
      return bytes;
  }
}

function aBase(random: Random, length: number, modulus: Uint8Array): Uint8Array {
  const bytes = random.bytes(length);
  const near = toNumber(modulus) * BigInt(random.below(4)) + BigInt(random.below(5) - 2);
  switch (random.below(8)) {
    case 0:
      return bytes.fill(0);
    case 1:
      return small(random, bytes, 2);
    case 2:
    case 3:
      // A multiple of the modulus, or beside it.
      return bigintToFixedBytes(BigInt.asUintN(8 * length, near), length);
    case 4:
      return bytes.fill(0xff);
    case 5:
      return bytes.fill(0, length - random.below(length + 1));
    default:
      return bytes;
  }
}

function anExponent(random: Random, length: number): Uint8Array {
  const bytes = random.bytes(length);
  switch (random.below(8)) {
    case 0:
      return bytes.fill(0);
    case 1:
      return small(random, bytes, 3);
    case 2:
      return bytes.fill(0, 0, random.below(length + 1));
    case 3: {
      // One bit, often in the first word.
      bytes.fill(0);
      if (length > 0) bytes[random.below(Math.min(length, 34))] = 1 << random.below(8);
      return bytes;
    }
    case 4:
      return bytes.fill(0xff);
    default:
      return bytes;
  }
}

/** Rounds of BLAKE2b (0x09). */
export function aCompression(random: Random): Uint8Array {
  const rounds = weighted(random, [
    [60, random.below(24)],
    [10, 0],
    [10, random.below(3000)],
    [1, 50_000 + random.below(60_000)],
    [3, pick(random, [2 ** 32 - 1, 2 ** 31, 2 ** 31 - 1, 2 ** 24, 2 ** 16, 50_000, 50_001, 100_000])],
  ]);
  const [state, message, offset] = [64, 128, 16].map((length) => {
    const bytes = random.bytes(length);
    return chance(random, 80) ? bytes : bytes.fill(pick(random, [0, 0xff, 0x80, 1]));
  }) as [Uint8Array, Uint8Array, Uint8Array];
  const flag = chance(random, 90) ? random.below(2) : pick(random, [2, 3, 0x80, 0xff, 0xfe]);
  return concatBytes(bigintToFixedBytes(BigInt(rounds), 4), state, message, offset, Uint8Array.of(flag));
}

/** Any bytes, of lengths at the borders of words and of the blocks of hashes. */
export function noise(random: Random): Uint8Array {
  const border = pick(random, [0, 32, 55, 56, 64, 119, 120, 128, 256, 1024, 2048]);
  const length = chance(random, 60) ? Math.max(0, border + random.below(3) - 1) : random.below(600);
  return chance(random, 75)
    ? random.bytes(length)
    : new Uint8Array(length).fill(pick(random, [0, 0x80, 0xff]));
}
