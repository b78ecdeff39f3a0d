import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concatBytes, hexToBytes, toDigits, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import {
  addressOfPrivateKey,
  curve,
  decodeSignature,
  encodeSignature,
  loadNobleCurve,
  recoverAddress,
  recoverPublicKey,
  SECP256K1_ORDER,
  type Signature,
  sign,
} from "../../src/primitives/secp256k1.ts";
import { describeWithVectors, readVectorJson } from "../vectors.ts";

interface KeyTest {
  readonly seed: string;
  readonly key: string;
  readonly addr: string;
}

describeWithVectors("public key tests", () => {
  // The file does not give the digests of its signatures, so only the addresses can be compared.
  const keys = readVectorJson<KeyTest[]>("basic-tests", "keyaddrtest.json");

  it.each(keys)("derive the address of the key: $seed", ({ key, addr }) => {
    expect(toDigits(addressOfPrivateKey(hexToBytes(key)))).toBe(addr);
  });

  it("sign as Besu signs", () => {
    const vector = readVectorJson<Record<"privateKey" | "hash" | "signature", string>>(
      "ibft2",
      "signature.json",
    );
    const signature = sign(hexToBytes(vector.hash), hexToBytes(vector.privateKey));
    expect(toHex(encodeSignature(signature))).toBe(vector.signature);
    expect(decodeSignature(hexToBytes(vector.signature))).toEqual(signature);
  });
});

const digest = fc.uint8Array({ minLength: 32, maxLength: 32 });
const privateKey = fc
  .bigInt({ min: 1n, max: SECP256K1_ORDER - 1n })
  .map((scalar) => bigintToFixedBytes(scalar, 32));

describe("the curve implementation", async () => {
  const reference = await loadNobleCurve();

  it("is the native one when its binding loads, as in this test", () => {
    expect(curve.name).toBe("native");
  });

  it("refuses an r that is on no point, and leaves later errors their stack", () => {
    const rs = concatBytes(bigintToFixedBytes(7n, 32), bigintToFixedBytes(9n, 32));
    expect(curve.recover(new Uint8Array(32), rs, 0)).toBeUndefined();
    expect(new Error("later").stack).toContain("secp256k1.test");
  });

  it("derives shared secrets exactly as the reference does, and none for a point off the curve", () => {
    fc.assert(
      fc.property(privateKey, privateKey, (ours, theirs) => {
        const secret = curve.sharedSecret(curve.publicKey(theirs), ours);
        expect(secret).toEqual(reference.sharedSecret(curve.publicKey(theirs), ours));
        expect(secret).toEqual(curve.sharedSecret(curve.publicKey(ours), theirs));
      }),
      { numRuns: 20 },
    );
    for (const invalid of [new Uint8Array(64), new Uint8Array(64).fill(1), new Uint8Array(63)]) {
      expect(curve.sharedSecret(invalid, bigintToFixedBytes(5n, 32))).toBeUndefined();
      expect(reference.sharedSecret(invalid, bigintToFixedBytes(5n, 32))).toBeUndefined();
    }
  });

  it("signs and recovers exactly as the reference does", () => {
    fc.assert(
      fc.property(digest, privateKey, (message, key) => {
        const { rs, recovery } = curve.sign(message, key);
        const expected = reference.sign(message, key);
        expect([toHex(rs), recovery]).toEqual([toHex(expected.rs), expected.recovery]);
        expect(toHex(curve.publicKey(key))).toBe(toHex(reference.publicKey(key)));
        const recovered = [curve, reference].map(
          (one) => one.recover(message, rs, recovery) ?? new Uint8Array(),
        );
        expect(recovered.map(toHex)).toEqual([toHex(curve.publicKey(key)), toHex(curve.publicKey(key))]);
      }),
      { numRuns: 30 },
    );
  });

  it("recovers or refuses any signature as the reference does", () => {
    const scalar = fc
      .bigInt({ min: 1n, max: SECP256K1_ORDER - 1n })
      .map((one) => bigintToFixedBytes(one, 32));
    fc.assert(
      fc.property(digest, scalar, scalar, fc.constantFrom(0, 1), (message, r, s, recovery) => {
        const rs = concatBytes(r, s);
        const [ours, theirs] = [
          curve.recover(message, rs, recovery),
          reference.recover(message, rs, recovery),
        ];
        expect(ours && toHex(ours)).toBe(theirs && toHex(theirs));
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    ["zero", 0n, false],
    ["one", 1n, true],
    ["the order less one", SECP256K1_ORDER - 1n, true],
    ["the order", SECP256K1_ORDER, false],
    ["all bits", 2n ** 256n - 1n, false],
  ])("tells whether a scalar is a private key: %s", (_, scalar, expected) => {
    for (const one of [curve, reference])
      expect(one.isPrivateKey(bigintToFixedBytes(scalar, 32))).toBe(expected);
  });

  it("refuses keys of another length", () => {
    for (const one of [curve, reference]) expect(one.isPrivateKey(new Uint8Array(31).fill(1))).toBe(false);
  });
});

describe("a signature", () => {
  it("has a low s and recovers to its signer, and so does its counterpart with a high s", () => {
    fc.assert(
      fc.property(digest, privateKey, (message, key) => {
        const { r, s, yParity } = sign(message, key);
        const signer = toHex(addressOfPrivateKey(key));
        const mirrored: Signature = { r, s: SECP256K1_ORDER - s, yParity: yParity === 0 ? 1 : 0 };
        expect(s <= SECP256K1_ORDER / 2n).toBe(true);
        for (const signature of [{ r, s, yParity }, mirrored]) {
          expect(toHex(recoverAddress(message, signature) ?? new Uint8Array())).toBe(signer);
        }
        expect(toHex(recoverPublicKey(message, mirrored) ?? new Uint8Array())).toBe(
          toHex(curve.publicKey(key)),
        );
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    [0n, 1n],
    [1n, 0n],
    [SECP256K1_ORDER, 1n],
    [1n, SECP256K1_ORDER],
    [2n ** 256n, 1n],
  ])("recovers to nothing when r or s is out of range: %s, %s", (r, s) => {
    expect(recoverAddress(new Uint8Array(32), { r, s, yParity: 0 })).toBeUndefined();
    expect(recoverPublicKey(new Uint8Array(32), { r, s, yParity: 0 })).toBeUndefined();
  });

  it("is encoded in 65 bytes and decoded again, and no other form is accepted", () => {
    const scalar = fc.bigInt({ min: 1n, max: SECP256K1_ORDER - 1n });
    fc.assert(
      fc.property(scalar, scalar, fc.constantFrom(0 as const, 1 as const), (r, s, yParity) => {
        const bytes = encodeSignature({ r, s, yParity });
        expect(bytes).toHaveLength(65);
        expect(decodeSignature(bytes)).toEqual({ r, s, yParity });
        expect(decodeSignature(bytes.subarray(0, 64))).toBeUndefined();
        expect(decodeSignature(concatBytes(bytes, Uint8Array.of(0)))).toBeUndefined();
        expect(decodeSignature(bytes.with(64, 27))).toBeUndefined();
        expect(decodeSignature(bytes.with(64, 2))).toBeUndefined();
      }),
    );
    expect(decodeSignature(new Uint8Array(65))).toBeUndefined();
    expect(decodeSignature(new Uint8Array(65).fill(0xff).with(64, 0))).toBeUndefined();
  });
});
