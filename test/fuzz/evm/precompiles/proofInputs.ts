import { createHash } from "node:crypto";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { concatBytes } from "../../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../../src/primitives/quantity.ts";
import type { Random } from "../../../storage/random.ts";
import { chance, pick } from "../draws.ts";
import { fieldNumber, scalar } from "./pointEncodings.ts";
import { BLS12_G1 } from "./pointGroups.ts";

const G1 = bls12_381.G1.Point;
type Point = InstanceType<typeof G1>;
const { modulus, order } = BLS12_G1;

/** [τ]G1 of the mainnet ceremony, the second power of its setup: with it any linear polynomial has a proof. */
const TAU = G1.fromHex(
  "ad3eb50121139aa34db1d545093ac9374ab7bca2c0f3bf28e27c8dcd8fc7cb42d25926fc0c97b336e9f0fb35e5a04c81",
);

/** A proof that a polynomial has a value (EIP-4844): valid, or wrong or badly encoded in one place or more. */
export function aProof(random: Random): Uint8Array {
  const z = scalar(random, order) % order;
  const [a, b] = [
    chance(random, 25) ? 0n : scalar(random, order),
    chance(random, 60) ? 0n : BigInt(random.below(1000)),
  ];
  const y = (a + b * z) % order;
  const wrong = chance(random, 45) ? undefined : pick(random, PLACES);
  const isWrong = (place: (typeof PLACES)[number]): boolean => place === wrong || chance(random, 2);
  const spelled = (place: "z" | "y", value: bigint): Uint8Array =>
    bigintToFixedBytes(isWrong(place) ? anotherScalar(random, value) : value, 32);
  const point = (place: "commitment" | "proof", value: Point): Uint8Array =>
    isWrong(place) ? badlyCompressed(random, value) : compressed(value);
  const commitment = point("commitment", times(G1.BASE, a).add(times(TAU, b)));
  const hash = Uint8Array.from(createHash("sha256").update(commitment).digest());
  hash[0] = 1;
  if (isWrong("hash"))
    hash[chance(random, 70) ? 0 : random.below(32)] = pick(random, [0, 2, 0x81, random.below(256)]);
  return concatBytes(hash, spelled("z", z), spelled("y", y), commitment, point("proof", times(G1.BASE, b)));
}

const PLACES = ["hash", "z", "y", "commitment", "proof", "commitment", "proof"] as const;

/** The same by another spelling, or any at the borders. */
function anotherScalar(random: Random, value: bigint): bigint {
  return chance(random, 50) ? BigInt.asUintN(256, value + order) : scalar(random, order);
}

const IS_COMPRESSED = 0x80;
const IS_INFINITE = 0x40;
const IS_LARGER = 0x20;
const FLAGS = [
  0,
  IS_LARGER,
  IS_INFINITE,
  IS_COMPRESSED,
  IS_COMPRESSED | IS_LARGER,
  IS_COMPRESSED | IS_INFINITE,
  0xe0,
  0x60,
];

function compressed(point: Point): Uint8Array {
  return Uint8Array.from(point.is0() ? AT_INFINITY : point.toBytes(true));
}

function badlyCompressed(random: Random, point: Point): Uint8Array {
  const bytes = compressed(point);
  if (point.is0() && chance(random, 85)) {
    // Something behind the flags, or other flags, or both.
    const way = random.below(4);
    if (way < 3) bytes[1 + random.below(47)] = 1 << random.below(8);
    if (way > 1) bytes[0] = ((bytes[0] ?? 0) & 0x1f) | pick(random, FLAGS);
    if (way === 0) bytes[0] = (bytes[0] ?? 0) | random.below(64);
    return bytes;
  }
  const flags = (bytes[0] ?? 0) & (IS_COMPRESSED | IS_INFINITE | IS_LARGER);
  const withX = (x: bigint, flagsOfX: number): Uint8Array => {
    const spelled = bigintToFixedBytes(BigInt.asUintN(384, x), 48);
    spelled[0] = ((spelled[0] ?? 0) & 0x1f) | flagsOfX;
    return spelled;
  };
  switch (random.below(6)) {
    case 0:
      bytes[0] = (bytes[0] ?? 0) ^ IS_LARGER;
      return bytes;
    case 1:
      bytes[0] = ((bytes[0] ?? 0) & 0x1f) | pick(random, FLAGS);
      return bytes;
    case 2:
      return withX(fieldNumber(random, modulus, 48), chance(random, 70) ? flags : pick(random, FLAGS));
    case 3: {
      // On the curve, but outside the group.
      const [x = 0n, y = 0n] = BLS12_G1.outsider(random) ?? [];
      return withX(x, IS_COMPRESSED | (y > modulus / 2n ? IS_LARGER : 0));
    }
    case 4:
      return withX(toNumber(bytes) + modulus, flags);
    default:
      bytes[random.below(48)] = random.below(256);
      return bytes;
  }
}

const AT_INFINITY = concatBytes(Uint8Array.of(IS_COMPRESSED | IS_INFINITE), new Uint8Array(47));

/** x of a compressed point. */
function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString("hex")}`) & ((1n << 381n) - 1n);
}

function times(point: Point, factor: bigint): Point {
  const reduced = factor % order;
  return reduced === 0n ? G1.ZERO : point.multiplyUnsafe(reduced);
}
