import { createRequire } from "node:module";
import { type Address, asAddress } from "./address.ts";
import { keccak256 } from "./hash.ts";
import { concatBytes } from "./hex.ts";
import { bigintToFixedBytes, bytesToBigint } from "./quantity.ts";
import { loadAddon } from "./workerTermination.ts";

/** An ECDSA signature: 1 <= r, s < n, and the parity of R's y coordinate. */
export interface Signature {
  readonly r: bigint;
  readonly s: bigint;
  readonly yParity: 0 | 1;
}

/** The curve operations that the node needs, from either implementation. Keys are raw bytes. */
interface Curve {
  readonly name: "native" | "noble";
  /** Deterministic (RFC 6979), low-s: 64 bytes r || s, and the recovery id. */
  sign(digest: Uint8Array, privateKey: Uint8Array): { readonly rs: Uint8Array; readonly recovery: number };
  /** Uncompressed public key without the 0x04 prefix, 64 bytes; undefined when nothing can be recovered. */
  recover(digest: Uint8Array, rs: Uint8Array, recovery: number): Uint8Array | undefined;
  publicKey(privateKey: Uint8Array): Uint8Array;
  /** ECDH: x of the shared point, 32 bytes. Undefined when the public key (64 bytes) is not on the curve. */
  sharedSecret(publicKey: Uint8Array, privateKey: Uint8Array): Uint8Array | undefined;
  isPrivateKey(bytes: Uint8Array): boolean;
}

export const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * The implementation in use: the native binding where a prebuilt binary exists (45 µs a recovery), else @noble
 * (1,080 µs). The package's own JavaScript fallback is never used (architecture.md#rulings); the node warns once when
 * it runs on noble.
 */
export const curve: Curve = loadNativeCurve() ?? (await loadNobleCurve());

/** Signs a 32-byte digest; deterministic, low-s. Throws when the key is not a valid private key. */
export function sign(digest: Uint8Array, privateKey: Uint8Array): Signature {
  const { rs, recovery } = curve.sign(digest, privateKey);
  return {
    r: bytesToBigint(rs.subarray(0, 32)),
    s: bytesToBigint(rs.subarray(32)),
    yParity: recovery === 1 ? 1 : 0,
  };
}

/** Address of the signer of `digest`; undefined when the signature fits no key. High s is accepted here. */
export function recoverAddress(digest: Uint8Array, signature: Signature): Address | undefined {
  if (!isInRange(signature.r) || !isInRange(signature.s)) return undefined;
  const rs = concatBytes(bigintToFixedBytes(signature.r, 32), bigintToFixedBytes(signature.s, 32));
  const publicKey = curve.recover(digest, rs, signature.yParity);
  return publicKey === undefined ? undefined : addressOfPublicKey(publicKey);
}

/** Uncompressed public key of the signer, 64 bytes; undefined when the signature fits no key. */
export function recoverPublicKey(digest: Uint8Array, signature: Signature): Uint8Array | undefined {
  if (!isInRange(signature.r) || !isInRange(signature.s)) return undefined;
  const rs = concatBytes(bigintToFixedBytes(signature.r, 32), bigintToFixedBytes(signature.s, 32));
  return curve.recover(digest, rs, signature.yParity);
}

/** Whether the bytes are a point of the curve: 64 bytes, without the prefix 0x04. */
export function isPublicKey(bytes: Uint8Array): boolean {
  return bytes.length === 64 && curve.sharedSecret(bytes, ANY_PRIVATE_KEY) !== undefined;
}

const ANY_PRIVATE_KEY = new Uint8Array(32).fill(1);

/** Last 20 bytes of keccak256 of the 64-byte public key. */
export function addressOfPublicKey(publicKey: Uint8Array): Address {
  return asAddress(keccak256(publicKey).slice(12));
}

export function addressOfPrivateKey(privateKey: Uint8Array): Address {
  return addressOfPublicKey(curve.publicKey(privateKey));
}

/**
 * 65 bytes r || s || v with v 0 or 1, the encoding of commit seals and IBFT payload signatures (ibft2.md#payloads).
 */
export function encodeSignature(signature: Signature): Uint8Array {
  return concatBytes(
    bigintToFixedBytes(signature.r, 32),
    bigintToFixedBytes(signature.s, 32),
    Uint8Array.of(signature.yParity),
  );
}

/** Inverse of encodeSignature; undefined for a wrong length, v above 1, or r or s outside 1..n-1. */
export function decodeSignature(bytes: Uint8Array): Signature | undefined {
  const v = bytes[64];
  if (bytes.length !== 65 || (v !== 0 && v !== 1)) return undefined;
  const r = bytesToBigint(bytes.subarray(0, 32));
  const s = bytesToBigint(bytes.subarray(32, 64));
  return isInRange(r) && isInRange(s) ? { r, s, yParity: v } : undefined;
}

/** The same signature with s of at most half the order: (r, n - s) is valid for the other point R of that x. */
export function withLowS({ r, s, yParity }: Signature): Signature {
  if (s <= SECP256K1_ORDER / 2n || s >= SECP256K1_ORDER) return { r, s, yParity };
  return { r, s: SECP256K1_ORDER - s, yParity: yParity === 0 ? 1 : 0 };
}

function isInRange(scalar: bigint): boolean {
  return scalar > 0n && scalar < SECP256K1_ORDER;
}

const UNCOMPRESSED = Uint8Array.of(0x04);

interface NativeBinding {
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number };
  ecdsaRecover(rs: Uint8Array, recovery: number, digest: Uint8Array, compressed: boolean): Uint8Array;
  publicKeyCreate(privateKey: Uint8Array, compressed: boolean): Uint8Array;
  ecdh(
    publicKey: Uint8Array,
    privateKey: Uint8Array,
    options: { readonly hashfn: (x: Uint8Array) => Uint8Array },
    output: Uint8Array,
  ): Uint8Array;
  privateKeyVerify(privateKey: Uint8Array): boolean;
}

function loadNativeCurve(): Curve | undefined {
  let native: NativeBinding;
  try {
    const require = createRequire(import.meta.url);
    native = loadAddon(() => require("secp256k1/bindings") as NativeBinding);
  } catch {
    return undefined;
  }
  return {
    name: "native",
    sign(digest, privateKey) {
      const { signature, recid } = native.ecdsaSign(digest, privateKey);
      return { rs: signature, recovery: recid };
    },
    recover: (digest, rs, recovery) =>
      unlessRefused(() => native.ecdsaRecover(rs, recovery, digest, false).subarray(1)),
    publicKey: (privateKey) => native.publicKeyCreate(privateKey, false).subarray(1),
    sharedSecret: (publicKey, privateKey) =>
      unlessRefused(() => {
        const point = concatBytes(UNCOMPRESSED, publicKey);
        return native.ecdh(point, privateKey, { hashfn: (x) => x }, new Uint8Array(32));
      }),
    isPrivateKey: (bytes) => bytes.length === 32 && native.privateKeyVerify(bytes),
  };
}

/**
 * Undefined when the binding throws, which is how it refuses. Collecting the stack of that error would take nearly as long
 * as finding that there is no such point.
 */
function unlessRefused<T>(work: () => T): T | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } catch {
    return undefined;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The same operations in JavaScript: the fallback, and the reference in tests. Loaded only when needed. */
export async function loadNobleCurve(): Promise<Curve> {
  const { secp256k1: noble } = await import("@noble/curves/secp256k1.js");
  return {
    name: "noble",
    sign(digest, privateKey) {
      const bytes = noble.sign(digest, privateKey, { prehash: false, format: "recovered" });
      return { rs: bytes.subarray(1), recovery: bytes[0] ?? 0 };
    },
    recover(digest, rs, recovery) {
      try {
        const signature = noble.Signature.fromBytes(rs, "compact").addRecoveryBit(recovery);
        return signature.recoverPublicKey(digest).toBytes(false).subarray(1);
      } catch {
        return undefined;
      }
    },
    publicKey: (privateKey) => noble.getPublicKey(privateKey, false).subarray(1),
    sharedSecret(publicKey, privateKey) {
      try {
        return noble.getSharedSecret(privateKey, concatBytes(UNCOMPRESSED, publicKey)).slice(1);
      } catch {
        return undefined;
      }
    },
    isPrivateKey: (bytes) => noble.utils.isValidSecretKey(bytes),
  };
}
