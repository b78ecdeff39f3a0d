import type { EVMBN254Interface } from "@ethereumjs/evm";
import { bigintToFixedBytes, bytesToBigint } from "../../primitives/quantity.ts";
import type { Mcl } from "./mcl.ts";

type G1 = InstanceType<Mcl["G1"]>;
type G2 = InstanceType<Mcl["G2"]>;
type Fp = InstanceType<Mcl["Fp"]>;
type Fp2 = InstanceType<Mcl["Fp2"]>;

/**
 * The curve of precompiled contracts 0x06 to 0x08 (EIP-196, EIP-197) as the library's contracts ask for it. Coordinates
 * are 32 bytes, big-endian; a point of zeros is the one at infinity. Throws for coordinates that are not of the field
 * and for points off the curve or, of G2, outside the group.
 */
export function bn254(mcl: Mcl): EVMBN254Interface {
  mcl.verifyOrderG2(true);

  function readField(bytes: Uint8Array): Fp {
    const value = new mcl.Fp();
    // Little-endian is the package's own way; it throws for what is not below the modulus.
    value.deserialize(bytes.slice().reverse());
    return value;
  }

  /** The imaginary part comes first. */
  function readField2(bytes: Uint8Array): Fp2 {
    const value = new mcl.Fp2();
    value.set_a(readField(bytes.subarray(32)));
    value.set_b(readField(bytes.subarray(0, 32)));
    return value;
  }

  function readPoint(bytes: Uint8Array): G1 {
    const point = new mcl.G1();
    if (isZero(bytes)) return point;
    point.setX(readField(bytes.subarray(0, 32)));
    point.setY(readField(bytes.subarray(32)));
    point.setZ(readField(ONE));
    if (!point.isValid()) throw new RangeError("not on the curve");
    return point;
  }

  function readPoint2(bytes: Uint8Array): G2 {
    const point = new mcl.G2();
    if (isZero(bytes)) return point;
    point.setX(readField2(bytes.subarray(0, 64)));
    point.setY(readField2(bytes.subarray(64)));
    point.setZ(readField2(ONE_2));
    if (!point.isValid()) throw new RangeError("not on the curve, or outside the group");
    return point;
  }

  function writePoint(point: G1): Uint8Array {
    const bytes = new Uint8Array(64);
    if (point.isZero()) return bytes;
    point.normalize();
    bytes.set(point.getX().serialize().reverse(), 0);
    bytes.set(point.getY().serialize().reverse(), 32);
    return bytes;
  }

  return {
    add: (input) => writePoint(mcl.add(readPoint(input.subarray(0, 64)), readPoint(input.subarray(64, 128)))),

    mul(input) {
      const scalar = new mcl.Fr();
      scalar.setBigEndianMod(input.slice(64, 96));
      return writePoint(mcl.mul(readPoint(input.subarray(0, 64)), scalar));
    },

    pairing(input) {
      const product = new mcl.GT();
      product.setInt(1);
      let result = product;
      for (let at = 0; at < input.length; at += PAIR_BYTES) {
        const first = readPoint(input.subarray(at, at + 64));
        const second = readPoint2(input.subarray(at + 64, at + PAIR_BYTES));
        if (!first.isZero() && !second.isZero()) result = mcl.mul(result, mcl.millerLoop(first, second));
      }
      return bigintToFixedBytes(mcl.finalExp(result).isOne() ? 1n : 0n, 32);
    },
  };
}

const PAIR_BYTES = 192;
const ONE = bigintToFixedBytes(1n, 32);
const ONE_2 = bigintToFixedBytes(1n, 64);

function isZero(bytes: Uint8Array): boolean {
  return bytesToBigint(bytes) === 0n;
}
