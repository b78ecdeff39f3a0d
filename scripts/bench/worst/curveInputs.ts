import { createHash } from "node:crypto";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { bn254 } from "@noble/curves/bn254.js";
import { concatBytes } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import type { Random } from "../../../test/storage/random.ts";
import { type Draw, pick } from "./draw.ts";

/** Draws a point of a curve, or another input, in the encoding of a contract. */
type Make = (random: Random) => Uint8Array;

export const scalar: Make = (random) =>
  pick(random, [random.bytes(32), random.bytes(32), new Uint8Array(32).fill(0xff), new Uint8Array(32)]);
const multiplier: Make = (random) => bigintToFixedBytes(BigInt(random.below(2 ** 31) + 2), 32);
const factorOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
const encoded = (numbers: readonly bigint[], bytes: number): Uint8Array =>
  concatBytes(...numbers.map((each) => bigintToFixedBytes(each, bytes)));

export const bnPoint: Make = (random) => {
  const { x, y } = bn254.G1.Point.BASE.multiply(factorOf(multiplier(random))).toAffine();
  return encoded([x, y], 32);
};

export const bnPoint2: Make = (random) => {
  const { x, y } = bn254.G2.Point.BASE.multiply(factorOf(multiplier(random))).toAffine();
  return encoded([x.c1, x.c0, y.c1, y.c0], 32);
};

export const blsPoint: Make = (random) => {
  const { x, y } = bls12_381.G1.Point.BASE.multiply(factorOf(multiplier(random))).toAffine();
  return encoded([x, y], 64);
};

export const blsPoint2: Make = (random) => {
  const { x, y } = bls12_381.G2.Point.BASE.multiply(factorOf(multiplier(random))).toAffine();
  return encoded([x.c0, x.c1, y.c0, y.c1], 64);
};

export const fieldElement: Make = (random) => concatBytes(new Uint8Array(17), random.bytes(47));

/** The parts one after the other; sometimes equal, at infinity, or wrong at the beginning or the end. */
export function joined(...makers: readonly Make[]): Draw {
  return (random) => {
    const parts = makers.map((make) => make(random));
    const first = parts[0] as Uint8Array;
    switch (random.below(8)) {
      case 0:
        return ["equal", concatBytes(...parts.map((part) => (part.length === first.length ? first : part)))];
      case 1:
        return ["zeros", new Uint8Array(concatBytes(...parts).length)];
      case 2:
        return ["first infinite", concatBytes(new Uint8Array(first.length), ...parts.slice(1))];
      case 3:
        return ["first wrong", changed(concatBytes(...parts), first.length - 1)];
      case 4:
        return ["last wrong", changed(concatBytes(...parts), concatBytes(...parts).length - 1)];
      case 5:
        return ["too long", concatBytes(...parts, Uint8Array.of(0))];
      default:
        return ["", concatBytes(...parts)];
    }
  };
}

const COUNTS = [1, 2, 7, 8, 9, 16, 17, 32, 33, 128];

/** `count` items drawn from a few that are made once, because points take long to compute. */
export function repeated(what: string, makeOne: Draw): Draw {
  return (random) => {
    const count = pick(random, COUNTS);
    const some = Array.from({ length: Math.min(count, 3) }, () => makeOne(random));
    const items = Array.from({ length: count }, () => pick(random, some));
    const kinds = [...new Set(items.map(([kind]) => kind))].sort().filter((kind) => kind !== "");
    return [`${count} ${what} ${kinds.join(", ")}`.trim(), concatBytes(...items.map(([, bytes]) => bytes))];
  };
}

/** A claim about any points of the group, with a proof that is wrong: found only after all work. */
export const wrongProof: Draw = (random) =>
  claim(scalarBelowOrder(random), compressed(random), compressed(random));

/** A proof that the polynomial of zeros is zero: all points are the one at infinity. */
export const zeroProof: Draw = () => {
  const [, input] = claim(new Uint8Array(32), INFINITY, INFINITY, new Uint8Array(32));
  return ["of nothing", input];
};

const INFINITY = concatBytes(Uint8Array.of(0xc0), new Uint8Array(47));

function claim(
  y: Uint8Array,
  commitment: Uint8Array,
  proof: Uint8Array,
  z: Uint8Array = y,
): readonly [string, Uint8Array] {
  const hash = Uint8Array.from(createHash("sha256").update(commitment).digest());
  hash[0] = 1;
  return ["wrong", concatBytes(hash, z, y, commitment, proof)];
}

function compressed(random: Random): Uint8Array {
  return bls12_381.G1.Point.BASE.multiply(factorOf(multiplier(random))).toBytes(true);
}

function scalarBelowOrder(random: Random): Uint8Array {
  return concatBytes(new Uint8Array(1), random.bytes(31));
}

function changed(bytes: Uint8Array, at: number): Uint8Array {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}
