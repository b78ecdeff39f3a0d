import type { EVMBN254Interface } from "@ethereumjs/evm";
import type { Mcl } from "./mcl.ts";
import type { G1, G2, PairingCurve } from "./pairing.ts";

export interface Bn254 {
  readonly library: Omit<EVMBN254Interface, "pairing">;
  readonly pairing: PairingCurve;
}

/**
 * The curve of precompiled contracts 0x06 to 0x08 (EIP-196, EIP-197), for the first two with the library's interface.
 * Coordinates are 32 bytes, big-endian; a point of all zeros is the point at infinity. Throws for coordinates outside
 * of the field and for points off the curve or, in G2, outside the group.
 */
export function bn254(mcl: Mcl): Bn254 {
  mcl.verifyOrderG2(true);

  function readPoint(bytes: Uint8Array): G1 {
    const point = new mcl.G1();
    if (!isZero(bytes)) point.setStr(`1 ${hexOf(bytes, 0)} ${hexOf(bytes, 32)}`, 16);
    return point;
  }

  function readPoint2(bytes: Uint8Array): G2 {
    const point = new mcl.G2();
    if (isZero(bytes)) return point;
    // The input has the imaginary part first, the package expects it last.
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
    library: {
      add: (input) =>
        writePoint(mcl.add(readPoint(input.subarray(0, 64)), readPoint(input.subarray(64, 128)))),

      mul(input) {
        const scalar = new mcl.Fr();
        scalar.setBigEndianMod(input.slice(64, 96));
        return writePoint(mcl.mul(readPoint(input.subarray(0, 64)), scalar));
      },
    },
    pairing: { mcl, bytes1: 64, bytes2: 128, readPoint, readPoint2 },
  };
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** The coordinate at `at` in hex: the package reads points from text in half the time of reading single coordinates. */
function hexOf(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, 32).toString("hex");
}
