import { createHash } from "node:crypto";
import { BLS_MODULUS } from "../execution/precompiles/kzg.ts";
import { equalBytes } from "../primitives/hex.ts";
import { bytesToBigint } from "../primitives/quantity.ts";
import {
  BLS12_381,
  BN254,
  type Curve,
  hasOrder,
  numbersError,
  type PointErrorCode,
  pointBytes,
  pointError,
} from "./curvePoints.ts";

/**
 * go-ethereum's text for the failure of a precompiled contract that had enough gas. The first error of the input counts,
 * except that a point outside of its subgroup counts only when there is no other error.
 */
export function precompileErrorOf(number: number, input: Uint8Array): string {
  switch (number) {
    case 0x06:
    case 0x07:
      return bn254Text(pointsError(BN254, padded(input, number === 0x06 ? 128 : 64), [false]));
    case 0x08:
      return input.length % 192 !== 0
        ? "bad elliptic curve pairing size"
        : bn254Text(pointsError(BN254, input, [false, true]));
    case 0x09:
      return input.length === 213 ? "invalid final flag" : INVALID_LENGTH;
    case 0x0a:
      return input.length === 192 ? kzgError(input) : INVALID_LENGTH;
    default:
      return blsError(number, input);
  }
}

const INVALID_LENGTH = "invalid input length";

/** The first error of a list of points; `twisted`, repeated, says which are on the twist. Undefined when all are valid. */
function pointsError(
  curve: Curve,
  input: Uint8Array,
  twisted: readonly boolean[],
  scalarBytes = 0,
): PointErrorCode | undefined {
  for (let at = 0, index = 0; at < input.length; index++) {
    const end = at + pointBytes(curve, twisted[index % twisted.length] ?? false);
    const error = pointError(curve, input.subarray(at, end));
    if (error !== undefined) return error;
    at = end + scalarBytes;
  }
  return undefined;
}

function bn254Text(error: PointErrorCode | undefined): string {
  switch (error) {
    case undefined:
      return "point is not in correct subgroup";
    case "notOnCurve":
      return "point is not on curve";
    default:
      return INVALID_ENCODING;
  }
}

const INVALID_ENCODING = "invalid fp.Element encoding";

interface BlsInput {
  /** Bytes of one element. */
  readonly unit: number;
  /** Number of elements; one or more when absent. */
  readonly units?: number;
  /** Which points are on the twist, repeated; absent for field elements. */
  readonly twisted?: readonly boolean[];
  /** Bytes of the scalar behind each point. */
  readonly scalarBytes?: number;
}

/** Inputs of the contracts from 0x0b to 0x11 (EIP-2537). */
const BLS_INPUTS: ReadonlyMap<number, BlsInput> = new Map<number, BlsInput>([
  [0x0b, { unit: 128, units: 2, twisted: [false] }],
  [0x0c, { unit: 160, twisted: [false], scalarBytes: 32 }],
  [0x0d, { unit: 256, units: 2, twisted: [true] }],
  [0x0e, { unit: 288, twisted: [true], scalarBytes: 32 }],
  [0x0f, { unit: 384, twisted: [false, true] }],
  [0x10, { unit: 64, units: 1 }],
  [0x11, { unit: 128, units: 1 }],
]);

function blsError(number: number, input: Uint8Array): string {
  const expected = BLS_INPUTS.get(number);
  if (expected === undefined) return "execution reverted";
  const { unit, units, twisted, scalarBytes } = expected;
  const count = input.length / unit;
  const fits = units === undefined ? count > 0 && Number.isInteger(count) : count === units;
  if (!fits) return INVALID_LENGTH;
  const error =
    twisted === undefined
      ? numbersError(BLS12_381, input)
      : pointsError(BLS12_381, input, twisted, scalarBytes);
  switch (error) {
    case "padding":
      return "invalid field element top bytes";
    case "encoding":
      return INVALID_ENCODING;
    case "notOnCurve":
      return "invalid point: not on curve";
    default:
      return `${violatedSubgroup(number, input)} point is not on correct subgroup`;
  }
}

/** The subgroup of the first point that lies outside of it. */
function violatedSubgroup(number: number, input: Uint8Array): "g1" | "g2" {
  if (number !== 0x0f) return number === 0x0e ? "g2" : "g1";
  for (let at = 0; at < input.length; at += 384)
    if (!hasOrder(BLS12_381, input.subarray(at, at + 128), BLS_MODULUS)) return "g1";
  return "g2";
}

function kzgError(input: Uint8Array): string {
  const hash = Uint8Array.from(createHash("sha256").update(input.subarray(96, 144)).digest());
  hash[0] = KZG_VERSION;
  if (!equalBytes(hash, input.subarray(0, 32))) return "mismatched versioned hash";
  const scalars = [input.subarray(32, 64), input.subarray(64, 96)];
  return scalars.some((scalar) => bytesToBigint(scalar) >= BLS_MODULUS)
    ? "error verifying kzg proof: scalar is not canonical when interpreted as a big integer in big-endian"
    : "error verifying kzg proof: can't verify opening proof";
}

const KZG_VERSION = 1;

function padded(input: Uint8Array, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  bytes.set(input.subarray(0, length));
  return bytes;
}
