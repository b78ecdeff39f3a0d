import { MCLBLS } from "@ethereumjs/evm";
import { concatBytes } from "../../primitives/hex.ts";
import type { Mcl } from "./mcl.ts";
import type { G1, G2, PairingCurve } from "./pairing.ts";

/** The curve of precompiled contracts 0x0b to 0x11 (EIP-2537): the library's wrapper, and long operations in slices. */
export interface Bls12 {
  readonly library: MCLBLS;
  readonly pairing: PairingCurve;
  /** Multi-scalar multiplication in G1 and G2; yields every few milliseconds, throws as the library's curve does. */
  multiplySum(input: Uint8Array): Generator<undefined, Uint8Array>;
  multiplySum2(input: Uint8Array): Generator<undefined, Uint8Array>;
}

export function bls12(mcl: Mcl): Bls12 {
  const library = new MCLBLS(mcl);
  library.init?.();
  return {
    library,
    pairing: { mcl, bytes1: 128, bytes2: 256, ...readersOf(mcl) },
    multiplySum: (input) =>
      sumOfParts(input, PART_BYTES, {
        multiply: (part) => library.msmG1(part),
        add: (sum) => library.addG1(sum),
      }),
    multiplySum2: (input) =>
      sumOfParts(input, PART_BYTES_2, {
        multiply: (part) => library.msmG2(part),
        add: (sum) => library.addG2(sum),
      }),
  };
}

/** Pairs of a point and a scalar that take about 5 ms, including the subgroup check. */
const PART_BYTES = 160 * 8;
const PART_BYTES_2 = 288 * 4;

interface Group {
  multiply(part: Uint8Array): Uint8Array;
  /** Adds two concatenated points. */
  add(points: Uint8Array): Uint8Array;
}

function* sumOfParts(
  input: Uint8Array,
  partBytes: number,
  { multiply, add }: Group,
): Generator<undefined, Uint8Array> {
  let sum = multiply(input.subarray(0, partBytes));
  for (let at = partBytes; at < input.length; at += partBytes) {
    yield;
    sum = add(concatBytes(sum, multiply(input.subarray(at, at + partBytes))));
  }
  return sum;
}

/** Coordinates are 64 bytes, of which the first sixteen are zero; a point of all zeros is the point at infinity. */
function readersOf(mcl: Mcl): Pick<PairingCurve, "readPoint" | "readPoint2"> {
  function read<P extends G1 | G2>(point: P, bytes: Uint8Array): P {
    if (bytes.every((byte) => byte === 0)) return point;
    const digits = Array.from({ length: bytes.length / 64 }, (_, at) => hexOf(bytes, 64 * at + 16));
    point.setStr(`1 ${digits.join(" ")}`, 16);
    if (!point.isValidOrder()) throw new RangeError("outside the group");
    return point;
  }
  return {
    readPoint: (bytes) => read(new mcl.G1(), bytes),
    readPoint2: (bytes) => read(new mcl.G2(), bytes),
  };
}

function hexOf(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, 48).toString("hex");
}
