import { concatBytes } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { sign } from "../../../src/primitives/secp256k1.ts";
import type { Random } from "../../../test/storage/random.ts";
import { code, endless, OP, push } from "./assembly.ts";
import {
  blsPoint,
  blsPoint2,
  bnPoint,
  bnPoint2,
  fieldElement,
  joined,
  repeated,
  scalar,
  wrongProof,
  zeroProof,
} from "./curveInputs.ts";
import { type Draw, pick } from "./draw.ts";
import type { Case } from "./instructions.ts";
import { MODEXP_INPUTS } from "./modexpInputs.ts";

const word = (value: bigint | number): Uint8Array => bigintToFixedBytes(BigInt(value), 32);

const LENGTHS = [0, 1, 31, 32, 55, 56, 64, 119, 120, 128, 129, 1000, 10_000, 100_000, 1_000_000];
const bytesOfAnyLength: Draw = (random) => {
  const length = pick(random, LENGTHS);
  return [`${length} bytes`, random.bytes(length)];
};

const signature: Draw = (random) => {
  const digest = random.bytes(32);
  const { r, s, yParity } = sign(digest, random.bytes(32));
  return ["of a signature", concatBytes(digest, word(27 + yParity), word(r), word(s))];
};
const noSignature: Draw = (random) => {
  const v = pick(random, [0, 27, 28]);
  return [`of noise, v ${v}`, concatBytes(random.bytes(32), word(v), scalar(random), scalar(random))];
};

const blake2: Draw = (random) => {
  const rounds = pick(random, [0, 1, 12, 1000, 50_000, 50_001, 1_000_000]);
  const flag = random.below(4);
  const head = bigintToFixedBytes(BigInt(rounds), 4);
  return [`${rounds} rounds, flag ${flag}`, concatBytes(head, random.bytes(208), Uint8Array.of(flag))];
};

const oneOf =
  (...draws: readonly Draw[]): Draw =>
  (random) =>
    pick(random, draws)(random);

/** Each precompiled contract up to Prague: number, name, and its inputs. */
export const PRECOMPILES: readonly (readonly [number, string, Draw])[] = [
  [0x01, "ECRECOVER", oneOf(signature, noSignature)],
  [0x02, "SHA256", bytesOfAnyLength],
  [0x03, "RIPEMD160", bytesOfAnyLength],
  [0x04, "IDENTITY", bytesOfAnyLength],
  [0x05, "MODEXP", MODEXP_INPUTS],
  [0x06, "ECADD", joined(bnPoint, bnPoint)],
  [0x07, "ECMUL", joined(bnPoint, scalar)],
  [0x08, "ECPAIRING", repeated("pairs", joined(bnPoint, bnPoint2))],
  [0x09, "BLAKE2F", blake2],
  [0x0a, "POINT_EVALUATION", oneOf(wrongProof, zeroProof)],
  [0x0b, "BLS G1ADD", joined(blsPoint, blsPoint)],
  [0x0c, "BLS G1MSM", repeated("points", joined(blsPoint, scalar))],
  [0x0d, "BLS G2ADD", joined(blsPoint2, blsPoint2)],
  [0x0e, "BLS G2MSM", repeated("points", joined(blsPoint2, scalar))],
  [0x0f, "BLS PAIRING", repeated("pairs", joined(blsPoint, blsPoint2))],
  [0x10, "BLS MAP_FP_TO_G1", joined(fieldElement)],
  [0x11, "BLS MAP_FP2_TO_G2", joined(fieldElement, fieldElement)],
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
