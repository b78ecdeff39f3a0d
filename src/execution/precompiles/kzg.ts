import { hexToBytes } from "../../primitives/hex.ts";
import { bigintToFixedBytes, bytesToBigint } from "../../primitives/quantity.ts";
import { loadMcl, type Mcl } from "./mcl.ts";
import { writeBytes } from "./multiplySum.ts";

/** The order of the BLS12-381 scalar field, the field of blobs (EIP-4844). */
export const BLS_MODULUS = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;

/** A KZG proof and its claim. Points are compressed G1 points of 48 bytes, scalars have 32 bytes. */
interface KzgClaim {
  readonly commitment: Uint8Array;
  readonly z: Uint8Array;
  readonly y: Uint8Array;
  readonly proof: Uint8Array;
}

/** Loads what proofs need; undefined if it is loaded. */
export function prepareKzg(): Promise<void> | undefined {
  return verifier === undefined ? load() : undefined;
}

/** Verifies a proof like Verifier.verify. Throws if nothing has been loaded. */
export function isKzgProofValid(claim: KzgClaim): boolean {
  if (verifier === undefined) throw new TypeError("the curve of proofs is not loaded");
  return verifier.verify(claim);
}

let verifier: Verifier | undefined;

async function load(): Promise<void> {
  const mcl = await loadMcl("BLS12_381");
  verifier ??= new Verifier(mcl);
}

class Verifier {
  private readonly mcl: Mcl;
  private readonly commitment: number;
  /** The generator of G1, then the proof; and their factors. */
  private readonly generator: number;
  private readonly proof: number;
  private readonly scalars: number;
  private readonly left: number;
  private readonly product: number;
  private readonly bytes: number;
  /** The generator of G2, and [τ]G2, prepared for pairings. */
  private readonly generator2: number;
  private readonly tau: number;

  constructor(mcl: Mcl) {
    const { fieldBytes, g1 } = mcl;
    this.mcl = mcl;
    this.commitment = mcl.allocate(g1.pointBytes);
    this.generator = mcl.allocate(2 * g1.pointBytes);
    this.proof = this.generator + g1.pointBytes;
    this.scalars = mcl.allocate(2 * SCALAR_BYTES);
    this.left = mcl.allocate(g1.pointBytes);
    this.product = mcl.allocate(12 * fieldBytes);
    this.bytes = mcl.allocate(2 * COMPRESSED_BYTES);
    this.readPoint(this.generator, hexToBytes(GENERATOR));
    this.generator2 = this.prepared(GENERATOR_2);
    this.tau = this.prepared(TAU);
  }

  /**
   * True when `proof` shows that the polynomial behind `commitment` has value `y` at `z` (EIP-4844, verify_kzg_proof): e([y]
   * - C - z·proof, G2) · e(proof, [τ]G2) = 1. Also false for points off the curve or outside the group, and for scalars out
   * of range.
   */
  verify({ commitment, z, y, proof }: KzgClaim): boolean {
    const { g1, pairing } = this.mcl;
    const zValue = bytesToBigint(z);
    if (zValue >= BLS_MODULUS || bytesToBigint(y) >= BLS_MODULUS) return false;
    if (!this.readPoint(this.commitment, commitment) || !this.readPoint(this.proof, proof)) return false;
    this.setScalar(this.scalars, y);
    this.setScalar(this.scalars + SCALAR_BYTES, negated(zValue));
    g1.multiplySum(this.left, this.generator, this.scalars, 2);
    g1.subtract(this.left, this.left, this.commitment);
    // The pairing of a point at infinity is one, that of any other is not.
    if (g1.isZero(this.left) === 1 || g1.isZero(this.proof) === 1)
      return g1.isZero(this.left) === g1.isZero(this.proof);
    pairing.millerLoop2(this.product, this.left, this.generator2, this.proof, this.tau);
    pairing.finish(this.product, this.product);
    return pairing.isOne(this.product) === 1;
  }

  /** The point at infinity is valid: it commits to the zero polynomial. */
  private readPoint(point: number, bytes: Uint8Array): boolean {
    const { mcl } = this;
    if (!isCanonical(bytes)) return false;
    writeBytes(mcl.words(), bytes, this.bytes);
    if (mcl.decompress(point, this.bytes, COMPRESSED_BYTES) !== COMPRESSED_BYTES) return false;
    return mcl.g1.isZero(point) === 1 || mcl.g1.isValidOrder(point) === 1;
  }

  private setScalar(scalar: number, bytes: Uint8Array): void {
    writeBytes(this.mcl.words(), bytes, this.bytes);
    this.mcl.setScalar(scalar, this.bytes, SCALAR_BYTES);
  }

  private prepared(compressed: string): number {
    const { mcl } = this;
    const point = mcl.allocate(mcl.g2.pointBytes);
    writeBytes(mcl.words(), hexToBytes(compressed), this.bytes);
    mcl.decompress2(point, this.bytes, 2 * COMPRESSED_BYTES);
    const prepared = mcl.allocate(mcl.pairing.preparedBytes());
    mcl.pairing.precompute(prepared, point);
    return prepared;
  }
}

/** Whether the flags fit: the library takes any bytes after the flag of infinity, though only zeros are valid. */
function isCanonical(bytes: Uint8Array): boolean {
  const flags = bytes[0] ?? 0;
  if ((flags & IS_COMPRESSED) === 0) return false;
  return (flags & IS_INFINITE) === 0 || bytes.every((byte, at) => byte === (at === 0 ? INFINITY_BYTE : 0));
}

function negated(value: bigint): Uint8Array {
  return bigintToFixedBytes(value === 0n ? 0n : BLS_MODULUS - value, SCALAR_BYTES);
}

const IS_COMPRESSED = 0x80;
const IS_INFINITE = 0x40;
const INFINITY_BYTE = IS_COMPRESSED | IS_INFINITE;
const SCALAR_BYTES = 32;
const COMPRESSED_BYTES = 48;
const GENERATOR =
  "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb";
const GENERATOR_2 =
  "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e" +
  "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8";
/** [τ]G2 of the mainnet ceremony: the only point of the trusted setup that verification needs. */
const TAU =
  "b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72" +
  "185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2";
