import type { EVMBN254Interface } from "@ethereumjs/evm";
import { bigintToFixedBytes } from "../../primitives/quantity.ts";
import type { Mcl } from "./mcl.ts";

type G1 = InstanceType<Mcl["G1"]>;
type G2 = InstanceType<Mcl["G2"]>;

/**
 * The curve of precompiled contracts 0x06 to 0x08 (EIP-196, EIP-197) as the library's contracts ask for it. Coordinates
 * are 32 bytes, big-endian; a point of zeros is the one at infinity. Throws for coordinates that are not of the field
 * and for points off the curve or, of G2, outside the group.
 */
export function bn254(mcl: Mcl): EVMBN254Interface {
  mcl.verifyOrderG2(true);

  function readPoint(bytes: Uint8Array): G1 {
    const point = new mcl.G1();
    if (!isZero(bytes)) point.setStr(`1 ${hexOf(bytes, 0)} ${hexOf(bytes, 32)}`, 16);
    return point;
  }

  function readPoint2(bytes: Uint8Array): G2 {
    const point = new mcl.G2();
    if (isZero(bytes)) return point;
    // Here the imaginary part comes first; the package wants it last.
    point.setStr(`1 ${[32, 0, 96, 64].map((at) => hexOf(bytes, at)).join(" ")}`, 16);
    if (!point.isValidOrder()) throw new RangeError("outside the group");
    return point;
  }

  function writePoint(point: G1): Uint8Array {
    const [, x, y] = point.getStr(16).split(" ");
    if (x === undefined || y === undefined) return new Uint8Array(64);
    return Uint8Array.from(Buffer.from(x.padStart(64, "0") + y.padStart(64, "0"), "hex"));
  }

  return {
    add: (input) => writePoint(mcl.add(readPoint(input.subarray(0, 64)), readPoint(input.subarray(64, 128)))),

    mul(input) {
      const scalar = new mcl.Fr();
      scalar.setBigEndianMod(input.slice(64, 96));
      return writePoint(mcl.mul(readPoint(input.subarray(0, 64)), scalar));
    },

    pairing(input) {
      let product = new mcl.GT();
      product.setInt(1);
      for (let at = 0; at < input.length; at += PAIR_BYTES) {
        const first = readPoint(input.subarray(at, at + 64));
        const second = readPoint2(input.subarray(at + 64, at + PAIR_BYTES));
        if (!first.isZero() && !second.isZero()) product = mcl.mul(product, mcl.millerLoop(first, second));
      }
      return bigintToFixedBytes(mcl.finalExp(product).isOne() ? 1n : 0n, 32);
    },
  };
}

const PAIR_BYTES = 192;

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** The coordinate at `at` as digits: the package reads points from text in half the time that it takes by its parts. */
function hexOf(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, 32).toString("hex");
}
