import { bigintToFixedBytes } from "../../primitives/quantity.ts";
import type { Mcl } from "./mcl.ts";

export type G1 = InstanceType<Mcl["G1"]>;
export type G2 = InstanceType<Mcl["G2"]>;

/** A curve with its contract's encoding of points. Both readers throw for points outside of the group. */
export interface PairingCurve {
  readonly mcl: Mcl;
  readonly bytes1: number;
  readonly bytes2: number;
  readPoint(bytes: Uint8Array): G1;
  readPoint2(bytes: Uint8Array): G2;
}

/** Returns the word 1 if the product of all pairings is one, else 0. Yields after each pair, which takes about 2 ms. */
export function* checkPairings(
  input: Uint8Array,
  { mcl, bytes1, bytes2, readPoint, readPoint2 }: PairingCurve,
): Generator<undefined, Uint8Array> {
  let product = new mcl.GT();
  product.setInt(1);
  for (let at = 0; at < input.length; at += bytes1 + bytes2) {
    const first = readPoint(input.subarray(at, at + bytes1));
    const second = readPoint2(input.subarray(at + bytes1, at + bytes1 + bytes2));
    if (!first.isZero() && !second.isZero()) product = mcl.mul(product, mcl.millerLoop(first, second));
    yield;
  }
  return bigintToFixedBytes(mcl.finalExp(product).isOne() ? 1n : 0n, 32);
}
