import { bls12_381 } from "@noble/curves/bls12-381.js";
import { bn254 } from "@noble/curves/bn254.js";
import { concatBytes, hexToBytes } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import type { Random } from "../../../test/storage/random.ts";
import { code, endless, OP, push } from "./assembly.ts";
import type { Case } from "./instructions.ts";

type Draw = (random: Random) => readonly [string, Uint8Array];

const pick = <T>(random: Random, items: readonly T[]): T => items[random.below(items.length)] as T;
const word = (value: bigint | number): Uint8Array => bigintToFixedBytes(BigInt(value), 32);
const field = (value: bigint): Uint8Array => bigintToFixedBytes(value, 64);

const LENGTHS = [0, 1, 32, 64, 1000, 10_000, 100_000, 1_000_000];
const bytesOfAnyLength: Draw = (random) => {
  const length = pick(random, LENGTHS);
  return [`${length} bytes`, random.bytes(length)];
};

/** Lengths of base, exponent and modulus; the last bit of the modulus, and the exponent's fill byte. */
const modexp: Draw = (random) => {
  const modulusLength = pick(
    random,
    [1, 8, 9, 16, 24, 32, 33, 64, 96, 128, 256, 512, 1024, 4096, 20_000, 60_000],
  );
  const baseLength = pick(random, [1, modulusLength, 2 * modulusLength]);
  const most = Math.max(1, Math.floor(30_000_000 / (modulusLength * modulusLength)));
  const exponentLength = Math.min(most, pick(random, [1, 4, 5, 32, 33, 1000, 10_000, 100_000]));
  const isOdd = random.below(2) === 1;
  const modulus = random.bytes(modulusLength);
  modulus[0] = 0xff;
  const last = modulusLength - 1;
  modulus[last] = isOdd ? (modulus[last] ?? 0) | 1 : 0xfe;
  const exponent = new Uint8Array(exponentLength).fill(pick(random, [0xff, 0x80]));
  const base = random.bytes(baseLength);
  const lengths = [baseLength, exponentLength, modulusLength];
  return [
    `${lengths.join(", ")} bytes, ${isOdd ? "odd" : "even"}`,
    concatBytes(...lengths.map(word), base, exponent, modulus),
  ];
};

const scalar = (random: Random): Uint8Array => random.bytes(32);
const PAIR_COUNTS = [1, 2, 8, 32, 128];

/** `count` items drawn from a few that are made once, because pairs of points take long to compute. */
function repeated(what: string, makeOne: (random: Random) => Uint8Array): Draw {
  return (random) => {
    const count = pick(random, PAIR_COUNTS);
    const some = Array.from({ length: Math.min(count, 4) }, () => makeOne(random));
    return [`${count} ${what}`, concatBytes(...Array.from({ length: count }, () => pick(random, some)))];
  };
}

const exponentOf = (random: Random): bigint => BigInt(random.below(2 ** 31) + 2);

function bnPoint(random: Random): Uint8Array {
  const { x, y } = bn254.G1.Point.BASE.multiply(exponentOf(random)).toAffine();
  return concatBytes(word(x), word(y));
}

function bnPoint2(random: Random): Uint8Array {
  const { x, y } = bn254.G2.Point.BASE.multiply(exponentOf(random)).toAffine();
  return concatBytes(...[x.c1, x.c0, y.c1, y.c0].map(word));
}

function blsPoint(random: Random): Uint8Array {
  const { x, y } = bls12_381.G1.Point.BASE.multiply(exponentOf(random)).toAffine();
  return concatBytes(field(x), field(y));
}

function blsPoint2(random: Random): Uint8Array {
  const { x, y } = bls12_381.G2.Point.BASE.multiply(exponentOf(random)).toAffine();
  return concatBytes(...[x.c0, x.c1, y.c0, y.c1].map(field));
}

const fieldElement = (random: Random): Uint8Array => concatBytes(new Uint8Array(17), random.bytes(47));

const blake2: Draw = (random) => {
  const rounds = pick(random, [0, 1, 12, 1000, 100_000, 1_000_000]);
  return [
    `${rounds} rounds`,
    concatBytes(bigintToFixedBytes(BigInt(rounds), 4), random.bytes(208), Uint8Array.of(1)),
  ];
};

/** A proof that the polynomial of zeros is zero: all points are the one at infinity, with its versioned hash. */
const NOWHERE = concatBytes(Uint8Array.of(0xc0), new Uint8Array(47));
const zeroProof: Draw = () => [
  "of nothing",
  concatBytes(
    hexToBytes("0x010657f37554c781402a22917dee2f75def7ab966d7b770905398eba3c444014"),
    new Uint8Array(64),
    NOWHERE,
    NOWHERE,
  ),
];

/** Each precompiled contract up to Prague: number, name, and its inputs. */
export const PRECOMPILES: readonly (readonly [number, string, Draw])[] = [
  [
    0x01,
    "ECRECOVER",
    (random) => ["of noise", concatBytes(scalar(random), word(27), scalar(random), scalar(random))],
  ],
  [0x02, "SHA256", bytesOfAnyLength],
  [0x03, "RIPEMD160", bytesOfAnyLength],
  [0x04, "IDENTITY", bytesOfAnyLength],
  [0x05, "MODEXP", modexp],
  [0x06, "ECADD", (random) => ["", concatBytes(bnPoint(random), bnPoint(random))]],
  [0x07, "ECMUL", (random) => ["", concatBytes(bnPoint(random), scalar(random))]],
  [0x08, "ECPAIRING", repeated("pairs", (random) => concatBytes(bnPoint(random), bnPoint2(random)))],
  [0x09, "BLAKE2F", blake2],
  [0x0a, "POINT_EVALUATION", zeroProof],
  [0x0b, "BLS G1ADD", (random) => ["", concatBytes(blsPoint(random), blsPoint(random))]],
  [0x0c, "BLS G1MSM", repeated("points", (random) => concatBytes(blsPoint(random), scalar(random)))],
  [0x0d, "BLS G2ADD", (random) => ["", concatBytes(blsPoint2(random), blsPoint2(random))]],
  [0x0e, "BLS G2MSM", repeated("points", (random) => concatBytes(blsPoint2(random), scalar(random)))],
  [0x0f, "BLS PAIRING", repeated("pairs", (random) => concatBytes(blsPoint(random), blsPoint2(random)))],
  [0x10, "BLS MAP_FP_TO_G1", (random) => ["", fieldElement(random)]],
  [0x11, "BLS MAP_FP2_TO_G2", (random) => ["", concatBytes(fieldElement(random), fieldElement(random))]],
];

/** Code that calls the precompile in a loop with the input in its memory. */
export function drawPrecompile([number, name, draw]: (typeof PRECOMPILES)[number], random: Random): Case {
  const [what, input] = draw(random);
  const prologue = code(OP.CALLDATASIZE, OP.PUSH0, OP.PUSH0, OP.CALLDATACOPY);
  const body = code(
    OP.PUSH0,
    OP.PUSH0,
    OP.CALLDATASIZE,
    OP.PUSH0,
    push(number),
    OP.GAS,
    OP.STATICCALL,
    OP.POP,
  );
  return { name: `${name} ${what}`.trim(), code: endless(prologue, body, 8), input };
}
