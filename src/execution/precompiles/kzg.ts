import { hexToBytes } from "../../primitives/hex.ts";
import { bytesToBigint } from "../../primitives/quantity.ts";
import { loadMcl, type Mcl } from "./mcl.ts";

/** The order of the BLS12-381 scalar field, the field of blobs (EIP-4844). */
export const BLS_MODULUS = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;

/** A KZG proof and its claim. Points are compressed G1 points of 48 bytes, scalars have 32 bytes. */
export interface KzgClaim {
  readonly commitment: Uint8Array;
  readonly z: Uint8Array;
  readonly y: Uint8Array;
  readonly proof: Uint8Array;
}

/**
 * True when `proof` shows that the polynomial behind `commitment` has value `y` at `z` (EIP-4844, verify_kzg_proof):
 * e(C - [y] + z·proof, G2) = e(proof, [τ]G2). False as well for points off the curve or outside the group, and for
 * scalars out of range.
 */
export async function verifyKzgProof({ commitment, z, y, proof }: KzgClaim): Promise<boolean> {
  if (bytesToBigint(z) >= BLS_MODULUS || bytesToBigint(y) >= BLS_MODULUS) return false;
  const { mcl, generator, minusGenerator2, tau } = setUp ?? (await load());
  const [committed, proven] = [readPoint(mcl, commitment), readPoint(mcl, proof)];
  if (committed === undefined || proven === undefined) return false;
  const value = mcl.mul(generator, readScalar(mcl, y));
  const left = mcl.add(mcl.sub(committed, value), mcl.mul(proven, readScalar(mcl, z)));
  return mcl.finalExp(mcl.precomputedMillerLoop2(left, minusGenerator2, proven, tau)).isOne();
}

/** Loads ahead of time what the first proof needs. */
export async function prepareKzg(): Promise<void> {
  await load();
}

async function load(): Promise<SetUp> {
  const mcl = await loadMcl("BLS12_381");
  setUp ??= prepare(mcl);
  return setUp;
}

type G1 = InstanceType<Mcl["G1"]>;
type Precomputed = InstanceType<Mcl["PrecomputedG2"]>;

interface SetUp {
  readonly mcl: Mcl;
  readonly generator: G1;
  readonly minusGenerator2: Precomputed;
  readonly tau: Precomputed;
}

let setUp: SetUp | undefined;

function prepare(mcl: Mcl): SetUp {
  mcl.verifyOrderG1(true);
  mcl.verifyOrderG2(true);
  // Compressed points in the standard's encoding; applies to this whole copy of the package.
  mcl.setETHserialization(true);
  const readG2 = (hex: string) => {
    const point = new mcl.G2();
    point.deserialize(hexToBytes(hex));
    return point;
  };
  const generator = new mcl.G1();
  generator.deserialize(hexToBytes(GENERATOR));
  return {
    mcl,
    generator,
    minusGenerator2: new mcl.PrecomputedG2(mcl.neg(readG2(GENERATOR_2))),
    tau: new mcl.PrecomputedG2(readG2(TAU)),
  };
}

function readPoint(mcl: Mcl, bytes: Uint8Array): G1 | undefined {
  const point = new mcl.G1();
  // Other users of this copy of the package switch it off for points that may be outside the group.
  mcl.verifyOrderG1(true);
  try {
    // The point at infinity is valid: it commits to the zero polynomial.
    point.deserialize(bytes);
  } catch {
    return undefined;
  }
  return point;
}

function readScalar(mcl: Mcl, bytes: Uint8Array): InstanceType<Mcl["Fr"]> {
  const scalar = new mcl.Fr();
  scalar.setBigEndianMod(bytes);
  return scalar;
}

const GENERATOR =
  "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb";
const GENERATOR_2 =
  "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e" +
  "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8";
/** [τ]G2 of the mainnet ceremony: the only point of the trusted setup that verification needs. */
const TAU =
  "b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72" +
  "185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2";
