import { bls12_381 } from "@noble/curves/bls12-381.js";
import { bn254 } from "@noble/curves/bn254.js";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { concatBytes, hexToBytes } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { sign } from "../../../src/primitives/secp256k1.ts";
import { account } from "../../builders/testAccounts.ts";
import type { Random } from "../../storage/random.ts";
import { word as borderWord, chance, pick } from "./draws.ts";

/** An input that a precompiled contract accepts, mostly. */
type Draw = (random: Random) => Uint8Array;

const word = (value: bigint | number): Uint8Array => bigintToFixedBytes(BigInt(value), 32);
const field = (value: bigint): Uint8Array => bigintToFixedBytes(value, 64);
const anyWord: Draw = (random) => word(borderWord(random));
const noise: Draw = (random) => random.bytes(random.below(chance(random, 80) ? 130 : 900));

const recovery: Draw = (random) => {
  const digest = keccak256(random.bytes(4));
  const { r, s, yParity } = sign(digest, account(random.below(10)).privateKey);
  const v = chance(random, 90) ? 27 + yParity : pick(random, [0, 1, 26, 29, 255, 256 + 27]);
  return concatBytes(
    digest,
    word(v),
    chance(random, 90) ? word(r) : anyWord(random),
    chance(random, 90) ? word(s) : anyWord(random),
  );
};

const modexp: Draw = (random) => {
  const length = (): number =>
    chance(random, 70) ? pick(random, [0, 1, 2, 8, 16, 31, 32, 33, 40]) : random.below(100);
  const lengths = [length(), length(), length()];
  const header = lengths.map((one) => (chance(random, 97) ? word(one) : anyWord(random)));
  const parts = lengths.map((one) =>
    chance(random, 75) ? random.bytes(one) : new Uint8Array(one).fill(pick(random, [0, 1, 0x80, 0xff])),
  );
  return concatBytes(...header, ...parts);
};

/** Few multiples of a generator, made once: what is multiplied out takes long. */
function multiples(make: (factor: bigint) => Uint8Array, identity: number): Draw {
  const made = new Map<number, Uint8Array>([[0, new Uint8Array(identity)]]);
  return (random) => {
    const factor = random.below(8);
    let point = made.get(factor);
    if (point === undefined) {
      point = make(BigInt(factor));
      made.set(factor, point);
    }
    return point.slice();
  };
}

const bnPoint = multiples((factor) => {
  const { x, y } = bn254.G1.Point.BASE.multiply(factor).toAffine();
  return concatBytes(word(x), word(y));
}, 64);
const bnPoint2 = multiples((factor) => {
  const { x, y } = bn254.G2.Point.BASE.multiply(factor).toAffine();
  return concatBytes(...[x.c1, x.c0, y.c1, y.c0].map(word));
}, 128);
const blsPoint = multiples((factor) => {
  const { x, y } = bls12_381.G1.Point.BASE.multiply(factor).toAffine();
  return concatBytes(field(x), field(y));
}, 128);
const blsPoint2 = multiples((factor) => {
  const { x, y } = bls12_381.G2.Point.BASE.multiply(factor).toAffine();
  return concatBytes(...[x.c0, x.c1, y.c0, y.c1].map(field));
}, 256);

const fieldElement: Draw = (random) => concatBytes(new Uint8Array(17), random.bytes(47));

function several(draw: Draw, most: number): Draw {
  return (random) => concatBytes(...Array.from({ length: random.below(most + 1) }, () => draw(random)));
}

const both =
  (...draws: readonly Draw[]): Draw =>
  (random) =>
    concatBytes(...draws.map((draw) => draw(random)));

const blake2: Draw = (random) =>
  concatBytes(
    bigintToFixedBytes(BigInt(random.below(chance(random, 80) ? 20 : 1000)), 4),
    random.bytes(208),
    Uint8Array.of(chance(random, 92) ? random.below(2) : random.below(256)),
  );

const AT_INFINITY = concatBytes(Uint8Array.of(0xc0), new Uint8Array(47));
/** The polynomial of zeros is zero everywhere: commitment and proof are the point at infinity. */
const zeroProof: Draw = (random) =>
  concatBytes(
    hexToBytes("0x010657f37554c781402a22917dee2f75def7ab966d7b770905398eba3c444014"),
    chance(random, 70) ? word(random.below(1000)) : anyWord(random),
    chance(random, 90) ? new Uint8Array(32) : anyWord(random),
    AT_INFINITY,
    AT_INFINITY,
  );

/** Numbers of the precompiled contracts, and of their neighbours, with a draw each; slow ones are rarer. */
export const PRECOMPILE_INPUTS: readonly (readonly [
  weight: number,
  readonly [number: number, draw: Draw],
])[] = [
  [8, [0x01, recovery]],
  [8, [0x02, noise]],
  [8, [0x03, noise]],
  [10, [0x04, noise]],
  [12, [0x05, modexp]],
  [6, [0x06, both(bnPoint, bnPoint)]],
  [6, [0x07, both(bnPoint, anyWord)]],
  [2, [0x08, several(both(bnPoint, bnPoint2), 2)]],
  [8, [0x09, blake2]],
  [2, [0x0a, zeroProof]],
  [3, [0x0b, both(blsPoint, blsPoint)]],
  [2, [0x0c, several(both(blsPoint, anyWord), 2)]],
  [3, [0x0d, both(blsPoint2, blsPoint2)]],
  [2, [0x0e, several(both(blsPoint2, anyWord), 2)]],
  [1, [0x0f, several(both(blsPoint, blsPoint2), 2)]],
  [2, [0x10, fieldElement]],
  [1, [0x11, both(fieldElement, fieldElement)]],
  [2, [0x12, noise]],
  [1, [0x100, noise]],
];
