import { bls12_381 } from "@noble/curves/bls12-381.js";
import { bytesToBigint } from "./quantity.ts";

/** The order of the BLS12-381 scalar field, in which blobs are written (EIP-4844). */
export const BLS_MODULUS = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;

/**
 * True when `proof` shows that the polynomial behind `commitment` has value `y` at `z` (EIP-4844, verify_kzg_proof):
 * e(C - [y] + z·proof, G2) = e(proof, [τ]G2). Points are compressed G1 points of 48 bytes, scalars have 32 bytes.
 * False as well for points off the curve and scalars out of range.
 */
export function verifyKzgProof(claim: {
  readonly commitment: Uint8Array;
  readonly z: Uint8Array;
  readonly y: Uint8Array;
  readonly proof: Uint8Array;
}): boolean {
  const z = bytesToBigint(claim.z);
  const y = bytesToBigint(claim.y);
  if (z >= BLS_MODULUS || y >= BLS_MODULUS) return false;
  const commitment = readPoint(claim.commitment);
  const proof = readPoint(claim.proof);
  if (commitment === undefined || proof === undefined) return false;
  const left = commitment.subtract(times(G1.BASE, y)).add(times(proof, z));
  const pairs = [
    { g1: left, g2: G2.BASE.negate() },
    { g1: proof, g2: TAU },
  ].filter(({ g1 }) => !g1.is0());
  if (pairs.length === 0) return true;
  return Fp12.eql(bls12_381.pairingBatch(pairs), Fp12.ONE);
}

const G1 = bls12_381.G1.Point;
const G2 = bls12_381.G2.Point;
const { Fp12 } = bls12_381.fields;

type G1Point = typeof G1.BASE;

/** [τ]G2 of the main-net ceremony: of the whole trusted setup, verification needs this one point. */
const TAU = G2.fromHex(
  "b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72" +
    "185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2",
);

function readPoint(bytes: Uint8Array): G1Point | undefined {
  try {
    const point = G1.fromBytes(bytes);
    // The point at infinity is a commitment like any other: that of the zero polynomial.
    if (!point.is0()) point.assertValidity();
    return point;
  } catch {
    return undefined;
  }
}

/** The library's multiplication refuses zero. */
function times(point: G1Point, scalar: bigint): G1Point {
  return scalar === 0n || point.is0() ? G1.ZERO : point.multiplyUnsafe(scalar);
}
